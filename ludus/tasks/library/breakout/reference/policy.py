"""Reference: see from two pictures where the ball goes, play on until it comes down, and be there."""

HEIGHT, WIDTH = 12, 11


class Policy:
    """Remembers where the ball was."""

    def __init__(self, seed: int) -> None:
        self.last: tuple[int, int] | None = None

    def act(self, picture: list[list[int]]) -> int:
        """Towards where the ball will land."""
        ball = next(((at, row.index(2)) for at, row in enumerate(picture) if 2 in row), (HEIGHT - 1, WIDTH // 2))
        paddle = [at for at, cell in enumerate(picture[-1]) if cell == 3]
        middle = round(sum(paddle) / len(paddle)) if paddle else WIDTH // 2
        aim = WIDTH // 2 if self.last is None else self.landing(picture, ball, self.last)
        self.last = ball
        return 0 if aim == middle else 1 if aim < middle else 2

    def landing(self, picture: list[list[int]], ball: tuple[int, int], last: tuple[int, int]) -> int:
        """The column in which the ball reaches the last row."""
        (row, column), right = ball, ball[1] - last[1]
        down = ball[0] - last[0] or (1 if ball[0] < HEIGHT // 2 else -1)  # a brick turns the ball without a row
        bricks = [[cell == 1 for cell in line] for line in picture]
        if abs(right) > 2 or right == 0:  # it came from a wall: either way is as likely, the middle is safe
            right = 1 if column < WIDTH // 2 else -1
        for _ in range(60):
            column += right
            if column < 0:
                column, right = -column, -right
            elif column > WIDTH - 1:
                column, right = 2 * (WIDTH - 1) - column, -right
            row += down
            if row < 0:
                row, down = 1, 1
            if bricks[row][column]:
                bricks[row][column] = False
                row, down = row - down, -down
            if row == HEIGHT - 1:
                return column
        return WIDTH // 2
