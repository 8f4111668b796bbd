// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { markdownBlocks } from "#chat/markdown";

const html = (text: string) => [...markdownBlocks(text, new Map()).values()].join("");

function elementOf(text: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = html(text);
  return element;
}

describe("hostile markdown", () => {
  const hostile = [
    ...["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "<svg onload=alert(1)>"],
    ...["<iframe src=https://evil.example></iframe>", "<style>*{display:none}</style>"],
    ...["<form action=https://evil.example><input name=a></form>", "[a](javascript:alert(1))"],
    ...["[a](JaVaScRiPt:alert(1))", "[a](java\tscript:alert(1))", "[a](&#106;avascript:alert(1))"],
    ...["[a](data:text/html,<script>alert(1)</script>)", "[a](vbscript:x)", "[a](file:///etc/passwd)"],
    ...["[a](vscode://file/etc/passwd)", "[a](command:workbench.action.terminal.new)", "[a](//evil.example/x)"],
    ...["![a](https://evil.example/beacon.png)", "![a](javascript:alert(1))"],
    ...['[a](https://ok.example "x\\" onmouseover=alert(1)")', "```html\n<img src=x onerror=alert(1)>\n```"],
    ...['```"><img src=x onerror=alert(1)>\nx\n```', "`<img src=x onerror=alert(1)>`"],
    ...["<a href='javascript:alert(1)'>x</a>", "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |"],
    ...["[a]: javascript:alert(1)\n\n[a]", "<button data-copy onclick=alert(1)>x</button>"],
    "javascript:alert(1) data:text/html;base64,xx",
  ];
  it.each(hostile)("%s", (text) => {
    const element = elementOf(text);
    expect(element.querySelectorAll("img, script, svg, iframe, style, form, input, object, embed, video")).toHaveLength(
      0,
    );
    for (const node of element.querySelectorAll("*")) {
      for (const { name, value } of node.attributes) {
        expect(name).not.toMatch(/^on|^style$|^src/);
        if (name === "href") expect(value).toMatch(/^https?:\/\//);
      }
    }
    for (const link of element.querySelectorAll("a[href]"))
      expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    for (const path of element.querySelectorAll("[data-path]")) {
      expect(path.getAttribute("data-path")).not.toMatch(/^[a-z]+:|^\/\//i);
    }
  });

  it("shows HTML as the text it is", () => {
    expect(elementOf("<b>x</b> & <img src=x>").textContent.trim()).toBe("<b>x</b> & <img src=x>");
  });
});

describe("markdown", () => {
  it("links what says http, and nothing that only looks like a host", () => {
    const links = (text: string) => [...elementOf(text).querySelectorAll("a")].map((link) => link.getAttribute("href"));
    expect(links("see https://a.example/x and main.rs, README.md, a@b.example")).toEqual(["https://a.example/x"]);
  });

  it("makes paths something the host may open", () => {
    expect(elementOf("[here](src/a.ts:12)").querySelector("a.path")?.getAttribute("data-path")).toBe("src/a.ts:12");
  });

  it("gives code as it is, with a button that copies it", () => {
    const element = elementOf("```ts\nconst a = `<b>`;\n```");
    expect(element.querySelector("code")?.textContent).toBe("const a = `<b>`;");
    expect(element.querySelector(".code-language")?.textContent).toBe("ts");
    expect(element.querySelector("button[data-copy]")?.getAttribute("type")).toBe("button");
  });

  it("keeps the blocks before the last as they were", () => {
    const first = markdownBlocks("one\n\ntwo", new Map());
    const second = markdownBlocks("one\n\ntwo three", first);
    expect([...first.keys()][0]).toBe([...second.keys()][0]);
    expect([...second.values()]).toHaveLength(2);
  });
});

describe("places and tasks", () => {
  const links = (text: string) =>
    [...elementOf(text).querySelectorAll("a.path")].map((each) => each.getAttribute("data-path"));

  it.each([
    ["See src/cart.js:10 and lib/a.ts:3-7.", ["src/cart.js:10", "lib/a.ts:3-7"]],
    ["In `src/cart.js` and `cart.js:10`", ["src/cart.js", "cart.js:10"]],
    ["At 10:30, 1.2.3:4, http://x.y/z.js:3, cart.js, `npm test`, `a.b`", []],
    ["[the cart src/a.js:1](src/cart.js#L10)", ["src/cart.js#L10"]],
  ])("%s", (text, paths) => {
    expect(links(text)).toEqual(paths);
  });

  it("shows how the tasks of a list stand, and leaves brackets elsewhere alone", () => {
    expect(elementOf("- [ ] one\n- [x] two\n\n[ ] three").textContent?.replaceAll(/\s+/g, " ").trim()).toBe(
      "\u2610 one \u2611 two [ ] three",
    );
  });
});
