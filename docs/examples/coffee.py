"""A morning in the break room."""


def brew(cups, beans_per_cup=8):
    beans = cups * beans_per_cup
    return beans  # the demo stops here


def morning(people):
    shelf = {"beans": 100, "milk": 3}
    for person, cups in people.items():
        used = brew(cups)
        shelf["beans"] -= used
        print(f"{person} drinks {cups}, {shelf['beans']} beans are left")
    return shelf


morning({"Ada": 1, "Grace": 2, "Edsger": 3})
