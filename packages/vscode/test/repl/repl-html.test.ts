import { describe, expect, it } from "vitest";
import { noticeHtml, replHtml } from "../../src/repl/repl-html.ts";

const page = () => replHtml({ cspSource: "https://own.example", script: "s.js", style: 's".css', title: "<b>" });

describe("replHtml", () => {
  it("lets nothing load but what is named", () => {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page())?.[1]?.replaceAll("&#39;", "'") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("connect-src");
    expect(policy).not.toContain("unsafe-eval");
    const [, nonce] = /script-src 'nonce-([\w-]{32,})'(?:;|$)/.exec(policy) ?? [];
    expect(page()).not.toContain(nonce);
  });

  it("writes names as text", () => {
    expect(page()).not.toContain("<b>");
    expect(page()).not.toContain('s".css');
    expect(noticeHtml({ text: "<script>", command: 'x"onclick=', label: "<" })).not.toMatch(/<script>|"onclick/);
  });
});
