"""More examples in CI for tests whose cases are many and cheap."""

from hypothesis import settings

MANY = settings(max_examples=300 if settings().max_examples >= 100 else settings().max_examples)
