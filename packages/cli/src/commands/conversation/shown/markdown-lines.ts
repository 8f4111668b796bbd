import { Markdown, type MarkdownTheme, setCapabilities } from "@earendil-works/pi-tui";
import type { Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";

// An address of a model's choice is shown and never behind other words; images are not drawn.
setCapabilities({ images: null, trueColor: false, hyperlinks: false });

/** A model's Markdown as lines for a terminal. */
export class MarkdownLines {
  readonly #theme: MarkdownTheme;

  constructor(paint: Paint) {
    const painted = (style: Parameters<Paint>[0]) => (text: string) => paint(style, text);
    this.#theme = {
      heading: painted(["bold", "cyan"]),
      link: painted("underline"),
      linkUrl: painted("dim"),
      code: painted("yellow"),
      codeBlock: painted("yellow"),
      codeBlockBorder: () => border,
      quote: painted("italic"),
      quoteBorder: painted("dim"),
      hr: () => paint("dim", "* * *"),
      listBullet: painted("cyan"),
      bold: painted("bold"),
      italic: painted("italic"),
      strikethrough: painted("strikethrough"),
      underline: painted("underline"),
    };
  }

  /** @param width columns of a line at most */
  of(source: string, width: number): readonly string[] {
    const text = new Markdown(terminalSafe(source), 0, 0, this.#theme, undefined, {
      preserveOrderedListMarkers: true,
      renderLatex: false,
    });
    const lines = text.render(width).map((line) => line.trimEnd());
    const shown = lines.filter((line) => !line.includes(border));
    return shown.slice(0, shown.findLastIndex((line) => line !== "") + 1);
  }
}

/** Stands for the fences of code, which are not shown: code is indented and in a colour. */
const border = "\u0001";
