"""Who a token stands for, and how little a tokens file says when it is wrong."""

import re
from pathlib import Path

import pytest

from tutti.web.tokens import Tokens, User

ADMIN = User("tutti:admin", ("system:masters",))


@pytest.mark.parametrize(
    ("header", "user"),
    [
        (b"Bearer s3cret", ADMIN),
        (b"bearer s3cret", ADMIN),
        (b"Bearer  s3cret ", ADMIN),
        (b"Bearer s3cre", None),
        (b"Bearer s3crets", None),
        (b"Bearer ", None),
        (b"Basic s3cret", None),
        (b"s3cret", None),
        (b"", None),
        (None, None),
    ],
)
def test_only_the_whole_token_is_its_user(header: bytes | None, user: User | None) -> None:
    assert Tokens({"s3cret": ADMIN}).user_of(header) == user


def test_tokens_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text('{"one": {"name": "a", "groups": ["g"]}, "two": {"name": "b"}}')

    tokens = Tokens.load(file)

    assert tokens.user_of(b"Bearer one") == User("a", ("g",))
    assert tokens.user_of(b"Bearer two") == User("b")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"s3cret": {"name": "a"}', id="torn"),
        pytest.param('["s3cret"]', id="a list"),
        pytest.param('{"s3cret": {"name": 1}}', id="a name that is a number"),
        pytest.param('{"s3cret": {}}', id="no name"),
        pytest.param('{"": {"name": "s3cret"}}', id="an empty token"),
    ],
)
def test_a_wrong_file_is_refused_without_telling_what_is_in_it(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(content)

    with pytest.raises(ValueError, match=re.escape(str(file))) as refusal:
        Tokens.load(file)

    assert "s3cret" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_a_token_is_not_kept_in_memory_as_it_is() -> None:
    assert "s3cret" not in repr(vars(Tokens({"s3cret": ADMIN})))
