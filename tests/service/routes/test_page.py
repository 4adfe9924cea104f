"""The page and its files are served as they lie, under a policy that lets nothing else run."""

import pytest

from service.routes.page import PAGE


def test_the_page_is_served_as_it_lies(shared_client):
    response = shared_client.get("/")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.content == (PAGE / "index.html").read_bytes()
    assert shared_client.head("/").status_code == 200


def test_the_glass_box_is_served_as_it_lies(shared_client):
    assert shared_client.get("/inspect").content == (PAGE / "inspect.html").read_bytes()
    assert shared_client.head("/inspect").status_code == 200


FILES = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_the_page_is_served(shared_client, name):
    response = shared_client.get(f"/static/{name}")
    assert response.status_code == 200
    assert response.content == (PAGE / name).read_bytes()


def test_the_policy_allows_own_files_only_and_nothing_inline(shared_client):
    for path in ("/", "/static/page.js", "/nowhere", "/v1/models"):
        policy = shared_client.get(path).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy and "*" not in policy


@pytest.mark.parametrize(
    "path",
    ["/static/..%2f__main__.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/", "/static"],
)
def test_nothing_outside_the_folder_is_served(shared_client, path):
    response = shared_client.get(path)
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"
