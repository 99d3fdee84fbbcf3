"""What a page holds, read back from its text."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    """What a page holds: its tags with attributes, its headings, its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self._inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)

    def handle_data(self, data):
        if self._inside and self._inside[-1] not in ("script", "style"):
            self.text.append(data)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def all(self, *names):
        return [(tag, attributes) for tag, attributes in self.tags if tag in names]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())
