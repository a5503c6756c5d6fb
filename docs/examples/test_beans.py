import unittest


def beans(cups):
    return cups * 8


class Beans(unittest.TestCase):
    def test_two_cups(self):
        total = beans(2)
        self.assertEqual(total, 16)

    def test_no_cup(self):
        total = beans(0)
        self.assertEqual(total, 1)
