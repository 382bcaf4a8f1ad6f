"""What the pictures of the documents share: colours for light and dark pages, and the pieces of an SVG."""
from xml.sax.saxutils import escape, quoteattr

WIDTH = 860  # of a page of GitHub
STYLE = """
  .paper { fill: #ffffff } .text { fill: #1f2328 } .soft { fill: #59636e } .grid { stroke: #d1d9e0 }
  .ours { fill: #0969da } .theirs { fill: #9a6700 }
  .ours-text { fill: #0550ae; font-weight: bold } .theirs-text { fill: #7d4e00 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .text { fill: #e6edf3 } .soft { fill: #9198a1 } .grid { stroke: #3d444d }
    .ours { fill: #4493f8 } .theirs { fill: #bb8009 }
    .ours-text { fill: #79c0ff } .theirs-text { fill: #e3b341 }
  }
"""
BOLD, SMALL = ' font-weight="bold"', ' font-size="11"'


class Picture:
    def __init__(self):
        self.parts = []

    def text(self, x, y, words, css="text", extra=""):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{css}"{extra}>{escape(words)}</text>')

    def title(self, words):
        self.text(16, 28, words, "text", ' font-size="16"' + BOLD)

    def bar(self, x, y, width, height, css, extra=""):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height}" class="{css}"{extra}/>')

    def line(self, x, y, bottom, extra=""):
        self.parts.append(f'<path d="M{x:g},{y:g}V{bottom:g}" class="grid"{extra}/>')

    def svg(self, height, label):
        """label: what a reader hears who does not see the picture."""
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
                f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" role="img" '
                f'aria-label={quoteattr(label)}>\n<style>{STYLE}</style>\n'
                f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>\n')
        return head + "\n".join(self.parts) + "\n</svg>\n"
