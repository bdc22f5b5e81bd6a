"""The shop: products, search, a cart, orders, reviews and offers."""

from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from ludus.envs.open.browsergym.sites.site import (
    Redirect,
    Site,
    Visit,
    field_row,
    link,
    options,
    page_links,
    post_form,
    search_form,
)

__all__ = ["Order", "Product", "Shop"]

CATEGORIES = {
    "Lamps": ("Desk Lamp", "Floor Lamp", "Lantern", "Night Light", "Reading Lamp"),
    "Kitchen": ("Kettle", "Teapot", "Cutting Board", "Mixing Bowl", "Coffee Grinder"),
    "Garden": ("Watering Can", "Trowel", "Planter", "Bird Feeder", "Hose"),
    "Office": ("Notebook", "Stapler", "Desk Organiser", "Pen Set", "Whiteboard"),
}
MAKERS = ("Alder", "Birch", "Cedar", "Linden", "Maple", "Rowan", "Willow")
COLOURS = ("black", "blue", "green", "red", "white", "yellow")
STREETS = ("Harbour Road", "Mill Lane", "Station Street", "Orchard Way", "Chapel Hill")
TOWNS = ("Ashford", "Bexley", "Carlow", "Dunmore", "Elmstead")
PER_PAGE = 9
SORTS = ("Featured", "Price: low to high", "Price: high to low", "Best rated")


@dataclass
class Product:
    """Something to buy; prices are in cents."""

    id: int
    name: str
    category: str
    colour: str
    price: int
    rating: float
    stock: int


@dataclass
class Order:
    """Something that was bought."""

    id: int
    lines: dict[int, int]
    total: int
    address: str
    state: str = "Processing"


def money(cents: int) -> str:
    """A price, as it is written."""
    return f"${cents // 100}.{cents % 100:02d}"


@dataclass
class Shop(Site):
    """A shop with 48 products, which a seed draws."""

    products: dict[int, Product] = field(default_factory=dict[int, Product])
    cart: dict[int, int] = field(default_factory=dict[int, int])
    wishlist: list[int] = field(default_factory=list[int])
    orders: dict[int, Order] = field(default_factory=dict[int, Order])
    reviews: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    coupons: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    address: str = ""

    name: ClassVar[str] = "shop"
    title: ClassVar[str] = "Larkspur Goods"
    user: ClassVar[str] = "robin"
    routes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("GET", "/", "search"),
        ("GET", "/search", "search"),
        ("GET", r"/product/(\d+)", "product"),
        ("GET", "/cart", "show_cart"),
        ("POST", r"/cart/(\d+)", "put"),
        ("POST", r"/cart/(\d+)/quantity", "set_quantity"),
        ("POST", r"/wishlist/(\d+)", "wish"),
        ("GET", "/wishlist", "show_wishlist"),
        ("GET", "/checkout", "checkout"),
        ("POST", "/checkout", "buy"),
        ("GET", "/orders", "show_orders"),
        ("GET", r"/orders/(\d+)", "show_order"),
        ("POST", r"/orders/(\d+)/cancel", "cancel"),
        ("POST", r"/product/(\d+)/review", "review"),
        ("GET", "/offers", "offers"),
        ("GET", "/account", "account"),
        ("POST", "/account", "set_address"),
        ("GET", "/login", "login"),
        ("POST", "/login", "sign_in"),
        ("POST", "/logout", "sign_out"),
    )

    def __post_init__(self) -> None:
        rng, number = self.rng, 100
        names = [
            (f"{maker} {thing}", category)
            for category, things in CATEGORIES.items()
            for thing in things
            for maker in MAKERS
        ]
        chosen: list[int] = sorted(rng.choice(len(names), 48, replace=False).tolist())
        prices = rng.choice(range(500, 15000, 25), 48, replace=False).tolist()
        for at, price in zip(chosen, prices, strict=True):
            number += int(rng.integers(1, 9))
            name, category = names[at]
            colour = str(rng.choice(COLOURS))
            rating, stock = 1.0 + float(rng.integers(0, 41)) / 10, int(rng.integers(3, 40))
            self.products[number] = Product(number, name, category, colour, int(price), rating, stock)
        self.address = self.draw_address()
        for order in range(3):
            lines = {int(one): int(rng.integers(1, 4)) for one in rng.choice(list(self.products), 2, replace=False)}
            total = sum(self.products[one].price * count for one, count in lines.items())
            self.orders[5001 + order * 7] = Order(5001 + order * 7, lines, total, self.address)
        for category in CATEGORIES:
            code = f"{category[:3].upper()}{int(rng.integers(10, 99))}"
            self.coupons[code] = (category, int(rng.integers(2, 6)) * 5)

    def draw_address(self) -> str:
        """An address that nobody has."""
        rng = self.rng
        return f"{int(rng.integers(2, 99))} {rng.choice(STREETS)}, {rng.choice(TOWNS)}"

    def navigation(self) -> str:
        places = (("/offers", "Offers"), ("/wishlist", "Wish list"), ("/orders", "Orders"))
        links = "".join(link(to, text) for to, text in places)
        form = search_form("/search", "Search products")
        return f"{form}{links}{link('/cart', f'Cart ({sum(self.cart.values())})')}"

    # --- looking ---

    def search(self, visit: Visit) -> str:
        words, category = visit.query.get("q", "").lower().split(), visit.query.get("category", "")
        found = [
            one
            for one in self.products.values()
            if all(word in f"{one.name} {one.colour}".lower() for word in words)
            and category in ("", "All", one.category)
        ]
        sort = visit.query.get("sort", SORTS[0])
        if sort in SORTS[1:3]:
            found.sort(key=lambda one: one.price, reverse=sort == SORTS[2])
        elif sort == SORTS[3]:
            found.sort(key=lambda one: -one.rating)
        pages = max(1, -(-len(found) // PER_PAGE))
        page = min(max(1, visit.number("page", 1)), pages)
        cards = "".join(map(_card, found[(page - 1) * PER_PAGE : page * PER_PAGE]))
        chosen = options("category", ("All", *CATEGORIES), category) + options("sort", SORTS, sort)
        words_field = f'<input type="hidden" name="q" value="{escape(visit.query.get("q", ""))}">'
        form = f'<form class="row card" action="/search">{words_field}{chosen}<button>Apply</button></form>'
        links = page_links("/search", visit.query, page, pages)
        return f"{len(found)} products\0{form}<div class='grid'>{cards}</div>{links}"

    def product(self, visit: Visit, number: int) -> str | None:
        one = self.products.get(number)
        if one is None:
            return None
        put = post_form(f"/cart/{number}", field_row("quantity", "Quantity", "1", "number"), "Add to cart")
        wish = post_form(f"/wishlist/{number}", "", "Add to wish list")
        reviews = "".join(
            f'<div class="post">{stars} of 5: {escape(text)}</div>' for at, stars, text in self.reviews if at == number
        )
        fields = (
            options("stars", ("1", "2", "3", "4", "5"), "5") + '<textarea name="text" aria-label="Review"></textarea>'
        )
        category = link(f"/search?category={one.category}", one.category)
        body = (
            f'<div class="card"><p class="price">{money(one.price)}</p><p>Colour: {one.colour} · Category: '
            f"{category} · Rated {one.rating:.1f} of 5 · "
            f"{one.stock} in stock</p>{put}{wish}</div><h2>Reviews</h2>{reviews or '<p class=soft>None yet.</p>'}"
            f'<div class="card">{post_form(f"/product/{number}/review", fields, "Send review", kind="stack")}</div>'
        )
        return f"{one.name}\0{body}"

    def offers(self, visit: Visit) -> str:
        del visit
        rows = "".join(
            f"<tr><td>{category}</td><td>{percent} %</td><td><code>{code}</code></td></tr>"
            for code, (category, percent) in self.coupons.items()
        )
        return f"Offers\0<table><tr><th>On</th><th>Discount</th><th>Code</th></tr>{rows}</table>"

    # --- cart and wish list ---

    def put(self, visit: Visit, number: int) -> Redirect:
        count = visit.number("quantity", 1)
        if number in self.products and 0 < count <= self.products[number].stock:
            self.cart[number] = self.cart.get(number, 0) + count
            self.change("cart", number, notice=f"{self.products[number].name} is in the cart.")
            return Redirect("/cart")
        self.notice = "That quantity is not in stock."
        return Redirect(f"/product/{number}")

    def set_quantity(self, visit: Visit, number: int) -> Redirect:
        count = visit.number("quantity", 0)
        if number in self.cart and count <= self.products[number].stock:
            self.cart[number] = count
            if count == 0:
                del self.cart[number]
            self.change("cart", number, notice="The cart was changed.")
        return Redirect("/cart")

    def show_cart(self, visit: Visit) -> str:
        del visit
        rows = "".join(self._cart_row(number, count) for number, count in self.cart.items())
        if not rows:
            return "Cart\0<p>The cart is empty.</p>"
        total = sum(self.products[number].price * count for number, count in self.cart.items())
        head = "<tr><th>Product</th><th>Price</th><th>Quantity</th><th></th></tr>"
        out = link("/checkout", "Check out")
        return f'Cart\0<table>{head}{rows}</table><p class="price">Total {money(total)}</p>{out}'

    def _cart_row(self, number: int, count: int) -> str:
        one = self.products[number]
        change = post_form(
            f"/cart/{number}/quantity", field_row("quantity", "Quantity", str(count), "number"), "Update"
        )
        remove = post_form(f"/cart/{number}/quantity", '<input type="hidden" name="quantity" value="0">', "Remove")
        cells = (link(f"/product/{number}", one.name), money(one.price), change, remove)
        return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"

    def wish(self, visit: Visit, number: int) -> Redirect:
        del visit
        if number in self.products and number not in self.wishlist:
            self.wishlist.append(number)
            self.change("wish", number, notice="It is on the wish list.")
        return Redirect("/wishlist")

    def show_wishlist(self, visit: Visit) -> str:
        del visit
        cards = "".join(_card(self.products[one]) for one in self.wishlist)
        return f"Wish list\0<div class='grid'>{cards}</div>" if cards else "Wish list\0<p>Nothing is on it.</p>"

    # --- orders ---

    def checkout(self, visit: Visit) -> str | Redirect:
        del visit
        if not self.cart:
            return Redirect("/cart")
        total = sum(self.products[number].price * count for number, count in self.cart.items())
        fields = field_row("address", "Deliver to", self.address) + field_row("coupon", "Discount code")
        form = post_form("/checkout", fields, "Place order", kind="stack card")
        return f'Check out\0<p class="price">Total {money(total)}</p>{form}'

    def buy(self, visit: Visit) -> Redirect:
        code, address = visit.form.get("coupon", "").strip(), visit.form.get("address", "").strip()
        if not self.cart or not address or (code and code not in self.coupons):
            self.notice = "The order could not be placed: is the code right, and the address filled in?"
            return Redirect("/checkout")
        category, percent = self.coupons.get(code, ("", 0))
        total = 0
        for number, count in self.cart.items():
            price = self.products[number].price * count
            total += price - (price * percent // 100 if self.products[number].category == category else 0)
        number = max(self.orders) + 7
        self.orders[number] = Order(number, dict(self.cart), total, address)
        self.cart.clear()
        self.change("order", number, code, notice=f"Order {number} was placed.")
        return Redirect(f"/orders/{number}")

    def show_orders(self, visit: Visit) -> str:
        del visit
        rows = "".join(
            f"<tr><td>{link(f'/orders/{one.id}', str(one.id))}</td><td>{sum(one.lines.values())} items</td>"
            f"<td>{one.state}</td></tr>"
            for one in self.orders.values()
        )
        return f"Orders\0<table><tr><th>Order</th><th>Items</th><th>State</th></tr>{rows}</table>"

    def show_order(self, visit: Visit, number: int) -> str | None:
        del visit
        one = self.orders.get(number)
        if one is None:
            return None
        rows = "".join(
            f"<tr><td>{link(f'/product/{at}', self.products[at].name)}</td><td>{count}</td></tr>"
            for at, count in one.lines.items()
        )
        cancel = post_form(f"/orders/{number}/cancel", "", "Cancel order") if one.state == "Processing" else ""
        return (
            f"Order {number}\0<p>State: {one.state} · Deliver to {escape(one.address)}</p><table><tr><th>Product</th>"
            f'<th>Quantity</th></tr>{rows}</table><p class="price">Total {money(one.total)}</p>{cancel}'
        )

    def cancel(self, visit: Visit, number: int) -> Redirect:
        del visit
        if number in self.orders and self.orders[number].state == "Processing":
            self.orders[number].state = "Cancelled"
            self.change("cancel", number, notice="The order was cancelled.")
        return Redirect(f"/orders/{number}")

    def review(self, visit: Visit, number: int) -> Redirect:
        text, stars = visit.form.get("text", "").strip(), visit.number("stars")
        if number in self.products and text and 1 <= stars <= 5:
            self.reviews.append((number, stars, text))
            self.change("review", number, stars, text, notice="Thank you for the review.")
        return Redirect(f"/product/{number}")

    def account(self, visit: Visit) -> str | Redirect:
        if not visit.user:
            return Redirect("/login")
        form = post_form("/account", field_row("address", "Address", self.address), "Save", kind="stack card")
        return f"Account of {visit.user}\0{form}"

    def set_address(self, visit: Visit) -> Redirect:
        address = visit.form.get("address", "").strip()
        if address and address != self.address:
            self.address = address
            self.change("address", address, notice="The address was saved.")
        return Redirect("/account")


def _card(one: Product) -> str:
    return (
        f'<div class="card">{link(f"/product/{one.id}", one.name)}<p class="price">{money(one.price)}</p>'
        f'<p class="meta">{one.colour} · {one.rating:.1f} of 5</p></div>'
    )
