from __future__ import annotations

import subprocess

import pytest

from mcp_server.settings import DEFAULT_BASE_URL, Settings, SettingsError, settings_from
from tests.cases import each
from tests.mcp_server.stand_in import KEY, StandIn
from tests.mcp_server.wire import ROOT, SERVER, WAIT_SECONDS, environment


def command(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SERVER, *arguments],
        env=environment(**settings),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )


@pytest.mark.slow
@pytest.mark.promise("mcp.without-key")
@each("arguments", [(), ("--check",)])
@each("settings", [{}, {"SERVICE_API_KEY": " "}])
def test_without_a_key_it_exits_2_with_one_line(arguments: tuple[str, ...], settings: dict[str, str]) -> None:
    ended = command(*arguments, **settings)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1 and "SERVICE_API_KEY" in ended.stderr


@each("key", ["<API_KEY>", "Bearer ioc_abc", "ioc_ä", "ioc_a\tb", '"ioc_a"', "i" * 300])
def test_a_malformed_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="SERVICE_API_KEY is malformed") as failure:
        settings_from({"SERVICE_API_KEY": key})
    assert key not in str(failure.value)


@pytest.mark.slow
def test_a_malformed_key_exits_2_with_one_line() -> None:
    ended = command(SERVICE_API_KEY="<API_KEY>")
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)


def test_a_key_keeps_out_of_the_settings_own_text() -> None:
    assert KEY not in repr(settings_from({"SERVICE_API_KEY": f" {KEY}\n"}))


@pytest.mark.parametrize("given", [{}, {"SERVICE_BASE_URL": ""}])
def test_the_address_is_loopback_unless_given(given: dict[str, str]) -> None:
    assert settings_from({"SERVICE_API_KEY": KEY} | given) == Settings(DEFAULT_BASE_URL, KEY)


@each(
    "address",
    [
        "https://ioc.example.org",
        "https://ioc.example.org:8443/base",
        "https://203.0.113.9",
        "http://127.0.0.1:8000",
        "http://127.8.9.1",
        "http://[::1]:8000",
        "http://localhost:8000",
        "http://api:8000",
        "http://10.1.2.3",
        "http://172.31.0.1",
        "http://192.168.1.5:8000",
        "http://[fd00::5]",
        "http://ioc.localhost",
        "http://host.docker.internal:8000",
        "http://ioc.local",
        "http://ioc.home.arpa",
    ],
)
def test_https_anywhere_and_http_to_local_hosts_is_accepted(address: str) -> None:
    assert settings_from({"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": address + "/"}).base_url == address


@each(
    "address",
    [
        "http://ioc.example.org",
        "http://203.0.113.9",
        "http://169.254.169.254",
        "http://172.32.0.1",
        "http://[2001:db8::1]",
        "http://0.0.0.0",
        "http://127.1",
        "http://2130706433",
        "http://0x7f.1",
        "http://localhost.evil.example",
        "http://xlocal.example",
    ],
)
def test_http_to_a_public_host_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match=r"SERVICE_BASE_URL must be https"):
        settings_from({"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": address})


@each(
    "address",
    [
        "ioc.example.org",
        "ftp://ioc.example.org",
        "https://",
        "https://user:secret@ioc.example.org",
        "https://ioc.example.org?x=1",
        "https://ioc.example.org#x",
        "https://ioc.example.org:99999",
        "https://ioc.example.org:0",
        "https://ioc.example.org:port",
        "https://ioc.exa mple.org",
        "https://ioc.example.org\\@evil.example",
        "https://iöc.example.org",
        "https://[::1",
        "https://ioc.example.org/\x1b[31m",
    ],
)
def test_an_address_of_another_form_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(SettingsError, match="SERVICE_BASE_URL is malformed") as failure:
        settings_from({"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": address})
    assert "secret" not in str(failure.value) and "\x1b" not in str(failure.value)


@pytest.mark.slow
def test_a_public_http_address_exits_2_with_one_line() -> None:
    ended = command(SERVICE_API_KEY=KEY, SERVICE_BASE_URL="http://ioc.example.org")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1 and "SERVICE_BASE_URL" in ended.stderr


@pytest.mark.slow
def test_check_says_that_key_and_address_are_right(service: StandIn) -> None:
    ended = command("--check", SERVICE_API_KEY=KEY, SERVICE_BASE_URL=service.base_url)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(ended.stdout.splitlines()) == 1 and service.base_url in ended.stdout
    assert [asked.path for asked in service.asked] == ["/api/v1/usage"]


@pytest.mark.slow
def test_check_of_a_wrong_key_exits_1_with_one_line(service: StandIn) -> None:
    ended = command("--check", SERVICE_API_KEY="ioc_wrong_key", SERVICE_BASE_URL=service.base_url)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert len(ended.stderr.splitlines()) == 1 and "SERVICE_API_KEY" in ended.stderr
    assert "ioc_wrong_key" not in ended.stderr


@pytest.mark.slow
def test_check_of_something_else_exits_1_with_one_line(service: StandIn) -> None:
    service.answers(200, b"<html>Welcome</html>")
    ended = command("--check", SERVICE_API_KEY=KEY, SERVICE_BASE_URL=service.base_url)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1 and "SERVICE_BASE_URL" in ended.stderr


@pytest.mark.slow
def test_help_names_the_settings() -> None:
    ended = command("--help")
    assert ended.returncode == 0
    assert "SERVICE_API_KEY" in ended.stdout and "SERVICE_BASE_URL" in ended.stdout


@pytest.mark.slow
def test_version_is_one_line() -> None:
    ended = command("--version")
    assert ended.returncode == 0
    assert ended.stdout.startswith("ioc-mcp ") and len(ended.stdout.splitlines()) == 1


@pytest.mark.slow
def test_an_unknown_option_exits_2_and_keeps_stdout_clean() -> None:
    ended = command("--chekc", SERVICE_API_KEY=KEY)
    assert (ended.returncode, ended.stdout) == (2, "")


@pytest.mark.slow
def test_a_client_that_hangs_up_ends_the_process_quietly() -> None:
    ended = command(SERVICE_API_KEY=KEY)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
