"""Play and watch in a browser: ``python -m agents.web``.

`asked` reads what a browser sends, `rooms` keeps the tables, `shown` says what a browser is told of
one, `app` answers requests, and ``static`` is the page.
"""
