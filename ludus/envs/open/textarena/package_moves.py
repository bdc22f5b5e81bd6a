"""Moves of the package's games that do not list them, as messages; not all are legal, which is tried on a copy."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

from ludus.envs.open.textarena.words import FIVE, LONG, SHORT

if TYPE_CHECKING:
    from ludus.envs.open.textarena.package_game import PackageGame

__all__ = ["BLOCKED", "COMPLETE", "MOVES"]

Moves = Callable[["PackageGame"], list[str]]
"""Of a `PackageGame`: messages of the player to move."""
CARDS = (*range(2, 11), "J", "Q", "K", "A")
STAKES = (1, 2, 5, 10, 20, 50)
WORDS = sorted({*SHORT, *FIVE, *LONG})
FILES = "abcdefgh"
DIRECTIONS = [one for one in product((-1, 0, 1), repeat=2) if any(one)]
MAX_ALLOCATIONS = 400


def fixed(*moves: str) -> Moves:
    """Always these."""
    return lambda _: list(moves)


def numbers(first: int, last: int, text: str = "[{}]") -> Moves:
    """All of them, up to and with the last."""
    return lambda _: [text.format(one) for one in range(first, last + 1)]


def pairs(one: range, other: range, text: str = "[{} {}]") -> Moves:
    """Every two numbers that differ, or of different ranges."""
    return lambda _: [text.format(a, b) for a, b in product(one, other) if a != b or one != other]


def _board(game: "PackageGame") -> list[list[str]]:
    return game.inner.state.game_state["board"]


def _own(game: "PackageGame", marks: str) -> Iterator[tuple[int, int]]:
    """Rows and columns of the pieces of the player to move, by the mark of each player."""
    mark = marks[game.player]
    for row, cells in enumerate(_board(game)):
        yield from ((row, column) for column, cell in enumerate(cells) if cell == mark)


def _inside(game: "PackageGame", row: int, column: int) -> bool:
    return 0 <= row < len(_board(game)) and 0 <= column < len(_board(game)[0])


def alquerque(game: "PackageGame") -> list[str]:
    """A step forward or a jump, as `[a2 a3]`; the first row is the fifth rank."""
    return [
        f"[{FILES[column]}{5 - row} {FILES[to_column]}{5 - to_row}]"
        for row, column in _own(game, "RB")
        for (down, right), far in product(DIRECTIONS, (1, 2))
        if _inside(game, to_row := row + far * down, to_column := column + far * right)
        and not _board(game)[to_row][to_column]
    ]


def breakthrough(game: "PackageGame") -> list[str]:
    """A step ahead, as `[a2a3]`; the first row is the first rank."""
    ahead = 1 if game.player == 0 else -1
    return [
        f"[{FILES[column]}{row + 1}{FILES[column + right]}{row + ahead + 1}]"
        for row, column in _own(game, "WB")
        for right in (-1, 0, 1)
        if _inside(game, row + ahead, column + right)
    ]


def checkers(game: "PackageGame") -> list[str]:
    """A step or a jump aslant, as `[5 0 4 1]`: rows and columns from the top left."""
    return [
        f"[{row} {column} {row + far * down} {column + far * right}]"
        for mark in ("rb", "RB")
        for row, column in _own(game, mark)
        for down, right, far in product((-1, 1), (-1, 1), (1, 2))
        if _inside(game, row + far * down, column + far * right)
    ]


def lines_of_action(game: "PackageGame") -> list[str]:
    """As far as there are pieces on the line, as `[b1b3]`; the first row is the eighth rank."""
    return [
        f"[{FILES[column]}{8 - row}{FILES[to_column]}{8 - to_row}]"
        for row, column in _own(game, "OX")
        for down, right in DIRECTIONS
        for far in [game.inner._count_pieces_on_line(row, column, down, right)]
        if _inside(game, to_row := row + far * down, to_column := column + far * right)
    ]


def nim(game: "PackageGame") -> list[str]:
    """Whatever the piles have."""
    piles = enumerate(game.inner.state.game_state["piles"])
    return [f"[{pile} {count}]" for pile, size in piles for count in range(1, size + 1)]


def chopsticks(game: "PackageGame") -> list[str]:
    """An attack by either hand on either, or a split."""
    total = sum(game.inner.state.game_state["hands"][game.player])
    attacks = [f"[attack {one} {other}]" for one, other in product((0, 1), repeat=2)]
    return attacks + [f"[split {one} {total - one}]" for one in range(total + 1)]


def santorini(game: "PackageGame") -> list[str]:
    """As the game itself knows them."""
    return game.inner._get_valid_moves(game.player).split(", ")


def spite_and_malice(game: "PackageGame") -> list[str]:
    """As the game lists them, but for a draw where no card is left: a turn could go on so for ever."""
    return [move for move in game.listed() or [] if game.inner.deck or move != "[draw]"]


def ultimate_tic_tac_toe(game: "PackageGame") -> list[str]:
    """Every empty cell; none where all are full and nobody has won, which the game itself does not notice."""
    boards = game.inner.state.game_state["board"]
    return [f"[{one} {cell}]" for one, cell in product(range(9), repeat=2) if boards[one][cell // 3][cell % 3] == " "]


def quantum_tic_tac_toe(game: "PackageGame") -> list[str]:
    """Every two cells that nobody has; none where one is left, which the game itself does not notice."""
    cells = [number for number, (row, column) in game.inner.cell_mapping.items() if not _board(game)[row][column]]
    return [f"[{one},{other}]" for one, other in product(cells, repeat=2) if one != other]


def battleship(game: "PackageGame") -> list[str]:
    """Every field."""
    size = range(game.inner.grid_size)
    return [f"[{chr(ord('A') + row)}{column}]" for row, column in product(size, size)]


def colonel_blotto(game: "PackageGame") -> list[str]:
    """All units, spread over the fields in steps that keep the choices few."""
    fields, total = game.inner.field_names, game.inner.num_total_units
    step = next(one for one in range(1, total + 1) if (total // one + 1) ** (len(fields) - 1) <= MAX_ALLOCATIONS)
    spread = (
        (*parts, total - sum(parts))
        for parts in product(range(0, total + 1, step), repeat=len(fields) - 1)
        if sum(parts) <= total
    )
    return [f"[{' '.join(map('{}{}'.format, fields, units))}]" for units in spread]


def letter_auction(game: "PackageGame") -> list[str]:
    """Bids, and then a word that one's letters make, or nothing."""
    inner = game.inner
    if inner.round_number < len(inner.letters):
        return ["[pass]", *(f"[bid {one}]" for one in STAKES)]
    own = {one.lower() for one in inner.player_states[game.player]["letters"]}
    return [f"[{word}]" for word in WORDS if own.issuperset(word)] or ["[pass]"]


def word_chains(game: "PackageGame") -> list[str]:
    """Words of the length and the first letter that are asked for."""
    state = game.inner.state.game_state
    first, length = state["required_start_letter"].lower(), state["required_length"]
    return [f"[{word}]" for word in WORDS if word[0] == first and len(word) == length] or ["[pass]"]


def spelling_bee(game: "PackageGame") -> list[str]:
    """Words of the letters that are allowed."""
    allowed = game.inner.state.game_state["allowed_letters"]
    return [f"[{word}]" for word in WORDS if allowed.issuperset(word)] or ["[pass]"]


BETS = fixed("[check]", "[call]", "[fold]", *(f"[{verb} {one}]" for verb in ("bet", "raise") for one in STAKES))
MOVES: dict[str, Moves] = {
    "Alquerque": alquerque,
    "Battleship": battleship,
    "Breakthrough": breakthrough,
    "Briscola": numbers(1, 3, "[play {}]"),
    "Checkers": checkers,
    "Chopsticks": chopsticks,
    "ColonelBlotto": colonel_blotto,
    "ConnectFour": lambda game: [f"[col {number}]" for number in range(game.inner.num_cols)],
    "GameOfPureStrategy": fixed(*(f"[{card}]" for card in CARDS)),
    "GermanWhist": numbers(1, 13, "[play {}]"),
    "Golf": fixed("[draw]", "[take]", "[discard]", *(f"[swap {a} {b}]" for a, b in product(range(4), repeat=2))),
    "HighSociety": numbers(1, 11),
    "IndianPoker": BETS,
    "IteratedMatchingPennies": fixed("[heads]", "[tails]"),
    "IteratedPrisonersDilemma": fixed("[cooperate]", "[defect]"),
    "IteratedRockPaperScissors": fixed("[rock]", "[paper]", "[scissors]"),
    "IteratedStagHunt": fixed("[stag]", "[hare]"),
    "IteratedTwoThirdsAverage": lambda _: [f"[{number}]" for number in range(0, 101, 5)],
    "IteratedUltimatumGame": fixed("[Accept]", "[Reject]", *(f"[Offer: ${one}]" for one in range(11))),
    "LetterAuction": letter_auction,
    "LiarsDice": fixed("[Call]", *(f"[Bid: {count}, {face}]" for count, face in product(range(1, 11), range(1, 7)))),
    "LinesOfAction": lines_of_action,
    "MarketEntryGame": fixed("[E]", "[S]"),
    "MemoryGame": fixed(*(f"[{a} {b} {c} {d}]" for a, b, c, d in product(range(4), repeat=4) if (a, b) < (c, d))),
    "NewRecruit": fixed("[Accept]", "[Reject]", *(f"[Propose] {' '.join([one] * 8)}" for one in "ABCDE")),
    "Nim": nim,
    "Poker": BETS,
    "PublicGoodsGame": numbers(0, 20),
    "QuantumTicTacToe": quantum_tic_tac_toe,
    "SantoriniBaseFixed": santorini,
    "Snake": fixed("[up]", "[down]", "[left]", "[right]"),
    "SpellingBee": spelling_bee,
    "SpiteAndMalice": spite_and_malice,
    "Surround": fixed("[up]", "[down]", "[left]", "[right]"),
    "ThreePlayerGOPS": fixed(*(f"[{card}]" for card in CARDS)),
    "ThreePlayerIPD": fixed("[1 cooperate] [2 defect]", "[0 defect] [2 cooperate]", "[0 cooperate] [1 cooperate]"),
    "TruthAndDeception": fixed("[Fact 1]", "[Fact 2]"),
    "TwoDollar": fixed("[Accept]", "[Reject]", *(f"[Propose] ${one / 10:.2f}" for one in range(21))),
    "UltimateTicTacToe": ultimate_tic_tac_toe,
    "WildTicTacToe": lambda _: [f"[{mark} {cell}]" for mark, cell in product("XO", range(9))],
    "WordChains": word_chains,
}
"""By base name."""

COMPLETE = (
    "Alquerque",
    "Battleship",
    "Breakthrough",
    "Checkers",
    "Chopsticks",
    "ConnectFour",
    "IndianPoker",
    "LinesOfAction",
    "Nim",
    "QuantumTicTacToe",
    "SantoriniBaseFixed",
    "UltimateTicTacToe",
    "WildTicTacToe",
)
"""Of which a legal move is among these if there is one: who is refused all is blocked, which not every game notices."""


def fewest_left(game: "PackageGame") -> int | None:
    """Who has fewer cards to get rid of, if not both have as many: a deadlock, of which the game knows one kind."""
    left = [len(game.inner.players[player]["payoff"]) for player in (0, 1)]
    return None if left[0] == left[1] else left.index(min(left))


def the_other(game: "PackageGame") -> int:
    """Who does not have to move."""
    return 1 - game.player


BLOCKED: dict[str, Callable[["PackageGame"], int | None]] = {
    "Checkers": the_other,
    "IndianPoker": the_other,  # chips below 0, with which the package lets nobody fold either
    "SpiteAndMalice": fewest_left,
    "Stratego": the_other,
}
"""Who has won by its rules where a player cannot move and the game does not notice; of all others nobody has."""
