"""Tasks of the shop."""

from collections.abc import Callable

from ludus.envs.open.browsergym.sites.shop import CATEGORIES, Product, Shop, money
from ludus.envs.open.browsergym.sites.site import SiteTask

__all__ = ["SHOP_TASKS"]

Task = SiteTask[Shop]
REMARKS = ("Sturdy and well made.", "Smaller than I thought.", "Exactly what I needed.", "It arrived quickly.")


def _one(shop: Shop) -> Product:
    return shop.products[int(shop.rng.choice(list(shop.products)))]


def _category(shop: Shop) -> str:
    return str(shop.rng.choice(list(CATEGORIES)))


def _open(product: Product) -> tuple[str, ...]:
    """To a product by way of the search."""
    return (
        f"fill [name=q] {product.name}",
        "click [css=header button]",
        f'click [css=a[href="/product/{product.id}"]]',
    )


def _only(shop: Shop, *kinds: str) -> bool:
    """Whether nothing else was changed."""
    return bool(shop.changes) and {change[0] for change in shop.changes} <= set(kinds)


def add_to_cart(shop: Shop) -> Task:
    one = _one(shop)
    actions = (*_open(one), f'click [css=form[action="/cart/{one.id}"] button]')
    return Task(f"Add one {one.name} to the cart.", lambda it, _: it.cart == {one.id: 1}, actions)


def add_several(shop: Shop) -> Task:
    one, count = _one(shop), int(shop.rng.integers(2, 4))
    actions = (*_open(one), f"fill [name=quantity] {count}", f'click [css=form[action="/cart/{one.id}"] button]')
    return Task(f"Add {count} pieces of {one.name} to the cart.", lambda it, _: it.cart == {one.id: count}, actions)


def cheapest_of_category(shop: Shop) -> Task:
    category = _category(shop)
    one = min((it for it in shop.products.values() if it.category == category), key=lambda it: it.price)
    actions = (
        f"select [name=category] {category}",
        "select [name=sort] Price: low to high",
        "click [css=main form button]",
        f'click [css=a[href="/product/{one.id}"]]',
        f'click [css=form[action="/cart/{one.id}"] button]',
    )
    goal = f"Put one piece of the cheapest product of the category {category} into the cart."
    return Task(goal, lambda it, _: it.cart == {one.id: 1}, actions)


def best_rated_to_wishlist(shop: Shop) -> Task:
    category = _category(shop)
    of = [it for it in shop.products.values() if it.category == category]
    best = max(it.rating for it in of)
    right = {it.id for it in of if it.rating == best}
    one = next(it for it in of if it.rating == best)
    actions = (
        f"goto('/search?category={category}&sort=Best+rated')",
        f'click [css=a[href="/product/{one.id}"]]',
        f'click [css=form[action="/wishlist/{one.id}"] button]',
    )
    goal = f"Add the best rated product of the category {category} to the wish list."
    return Task(goal, lambda it, _: len(it.wishlist) == 1 and set(it.wishlist) <= right and _only(it, "wish"), actions)


def order_product(shop: Shop) -> Task:
    one, known = _one(shop), set(shop.orders)
    actions = (
        *_open(one),
        f'click [css=form[action="/cart/{one.id}"] button]',
        'click [css=a[href="/checkout"]]',
        "click [css=main form button]",
    )

    def check(it: Shop, _: list[str]) -> bool:
        made = [order for number, order in it.orders.items() if number not in known]
        return len(made) == 1 and made[0].lines == {one.id: 1} and made[0].address == it.address and not it.cart

    return Task(f"Order one {one.name}, delivered to the address that is on file.", check, actions)


def order_elsewhere(shop: Shop) -> Task:
    one, known, address = _one(shop), set(shop.orders), shop.draw_address()
    actions = (
        *_open(one),
        f'click [css=form[action="/cart/{one.id}"] button]',
        'click [css=a[href="/checkout"]]',
        f"fill [name=address] {address}",
        "click [css=main form button]",
    )

    def check(it: Shop, _: list[str]) -> bool:
        made = [order for number, order in it.orders.items() if number not in known]
        return len(made) == 1 and made[0].lines == {one.id: 1} and made[0].address == address

    return Task(f"Order one {one.name}, delivered to {address}.", check, actions)


def order_with_code(shop: Shop) -> Task:
    one, known = _one(shop), set(shop.orders)
    code = next(code for code, (category, _) in shop.coupons.items() if category == one.category)
    actions = (
        'click [css=a[href="/offers"]]',
        *_open(one),
        f'click [css=form[action="/cart/{one.id}"] button]',
        'click [css=a[href="/checkout"]]',
        f"fill [name=coupon] {code}",
        "click [css=main form button]",
    )

    def check(it: Shop, _: list[str]) -> bool:
        made = [order for number, order in it.orders.items() if number not in known]
        return len(made) == 1 and made[0].lines == {one.id: 1} and made[0].total < one.price

    return Task(
        f"Order one {one.name} with the discount code for its category; the offers page has the codes.", check, actions
    )


def cancel_order(shop: Shop) -> Task:
    number = int(shop.rng.choice(list(shop.orders)))
    actions = (
        'click [css=a[href="/orders"]]',
        f'click [css=a[href="/orders/{number}"]]',
        "click [css=form[action$=cancel] button]",
    )

    def check(it: Shop, _: list[str]) -> bool:
        return all((order.state == "Cancelled") is (order.id == number) for order in it.orders.values())

    return Task(f"Cancel the order {number}.", check, actions)


def change_address(shop: Shop) -> Task:
    address = shop.draw_address()
    actions = ('click [css=a[href="/account"]]', f"fill [name=address] {address}", "click [css=main form button]")
    return Task(f"Change the address of the account to: {address}", lambda it, _: it.address == address, actions)


def write_review(shop: Shop) -> Task:
    one, stars, text = _one(shop), int(shop.rng.integers(1, 5)), str(shop.rng.choice(REMARKS))
    actions = (
        *_open(one),
        f"select [name=stars] {stars}",
        f"fill [name=text] {text}",
        "click [css=form[action$=review] button]",
    )
    goal = f'Review {one.name} with {stars} of 5 stars and the text "{text}"'
    return Task(goal, lambda it, _: it.reviews == [(one.id, stars, text)], actions)


def _filled(shop: Shop) -> list[Product]:
    chosen = [shop.products[int(one)] for one in shop.rng.choice(list(shop.products), 3, replace=False)]
    shop.cart = {one.id: 1 for one in chosen}
    return chosen


def remove_from_cart(shop: Shop) -> Task:
    first, second, third = _filled(shop)
    actions = (
        'click [css=a[href="/cart"]]',
        f'click [css=form[action="/cart/{second.id}/quantity"]:has(input[type=hidden]) button]',
    )
    return Task(f"Remove {second.name} from the cart.", lambda it, _: it.cart == {first.id: 1, third.id: 1}, actions)


def change_quantity(shop: Shop) -> Task:
    first, second, third = _filled(shop)
    form = f'form[action="/cart/{first.id}/quantity"]:has(input[type=number])'
    actions = ("goto('/cart')", f"fill [css={form} input] 3", f"click [css={form} button]")
    goal = f"There are three products in the cart. Change it so that it has 3 pieces of {first.name}."
    return Task(goal, lambda it, _: it.cart == {first.id: 3, second.id: 1, third.id: 1}, actions)


def tell_price(shop: Shop) -> Task:
    one = _one(shop)
    price = money(one.price).removeprefix("$")
    actions = (*_open(one)[:2], f"send_msg_to_user('It costs ${price}')")
    return Task(
        f"How much does {one.name} cost? Tell me the price.",
        lambda _, messages: price in messages[-1],
        actions,
        answer=True,
    )


def count_products(shop: Shop) -> Task:
    category = _category(shop)
    count = sum(it.category == category for it in shop.products.values())
    actions = (f"goto('/search?category={category}')", f"send_msg_to_user('{count}')")
    goal = f"How many products does the category {category} have? Answer with the number alone."
    return Task(goal, lambda _, messages: messages[-1].strip() == str(count), actions, answer=True)


def tell_order_total(shop: Shop) -> Task:
    order = shop.orders[int(shop.rng.choice(list(shop.orders)))]
    total = money(order.total).removeprefix("$")
    actions = (f"goto('/orders/{order.id}')", f"send_msg_to_user('${total}')")
    return Task(
        f"What is the total of order {order.id}?", lambda _, messages: total in messages[-1], actions, answer=True
    )


def order_what_is_not_sold(shop: Shop) -> Task:
    thing = str(shop.rng.choice(("Bicycle", "Piano", "Telescope", "Sailing Boat")))
    actions = (f"fill [name=q] {thing}", "click [css=header button]", f"report_infeasible('there is no {thing}')")
    goal = f"Put a {thing} into the cart; where that cannot be done, report that it is infeasible."
    return Task(goal, lambda it, _: not it.changes, actions, infeasible=True)


SHOP_TASKS: dict[str, Callable[[Shop], Task]] = {
    maker.__name__.replace("_", "-"): maker
    for maker in (
        add_to_cart, add_several, cheapest_of_category, best_rated_to_wishlist, order_product, order_elsewhere,
        order_with_code, cancel_order, change_address, write_review, remove_from_cart, change_quantity, tell_price,
        count_products, tell_order_total, order_what_is_not_sold,
    )
}  # fmt: skip
"""By name; each draws its particulars from the shop's own generator."""
