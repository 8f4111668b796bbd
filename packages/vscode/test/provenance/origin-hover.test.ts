import type { TracedOrigin, TracedWrite } from "@gennai/protocol/model/governance/line-trace";
import { expect, test } from "vitest";
import { originMarkdown } from "#provenance/origin-hover";

const ok = { status: "ok", message: "" };
const place = { uri: "file:///a (1).js", line: 3 };

function write(overrides: Partial<TracedWrite> = {}): TracedWrite {
  return {
    seq: 7,
    time: "2026-11-25T10:20:30.000Z",
    path: "a.js",
    sessionId: "session-1234",
    turnId: "turn-1234",
    call: { id: "call-1", tool: "Edit" },
    model: "offline/gennai",
    agent: undefined,
    intent: "INT-001",
    decision: { type: "approved", rule: "ask/writes", by: "Ada", scope: "once" },
    verification: "verified",
    beforeSha256: undefined,
    afterSha256: undefined,
    ...overrides,
  };
}

const recorded = (overrides: Partial<TracedWrite> = {}): TracedOrigin => ({
  type: "recorded",
  write: write(overrides),
  method: "formatted",
  confidence: 0.91,
});

/** As a renderer shows entities. */
function shown(markdown: string): string {
  return markdown.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

test("a hover tells who, why, who agreed, whether it was looked at, and how it was found", () => {
  expect(shown(originMarkdown(recorded(), ok, place)).split("\n")).toEqual([
    ...["**Record 7**, 2026-11-25 10:20 UTC", "", "- by: offline/gennai, call call-1 (Edit)"],
    ...["- session: session-, turn turn-123", "- intent: INT-001", "- agreed: Ada said yes, as ask/writes asked"],
    ...["- checked: the result is as expected", "- found: by its text without white space (91 %)", ""],
    "[Show where this came from](command:gennai.showOrigin?%5B%7B%22uri%22%3A%22file%3A%2F%2F%2Fa%20%281%29.js%22%2C%22line%22%3A3%7D%5D)",
  ]);
});

test("what is not known is said to be, with those who may have written it", () => {
  const text = shown(
    originMarkdown({ type: "unknown", reason: "ambiguous", candidates: [write(), write({ seq: 9 })] }, ok, place),
  );
  expect(text).toContain(
    "Who wrote this line is not known**: several calls, or a person in a review, may have written it",
  );
  expect(text).not.toContain("command:");
});

test("a ledger that is not as it was signed is said first", () => {
  const trust = { status: "broken_chain", message: "Record 3 was changed." };
  expect(shown(originMarkdown(recorded(), trust, place))).toMatch(
    /^\*\*The ledger is not as it was signed.*broken_chain/,
  );
});

test.each([
  ["a link", "[click](command:workbench.action.terminal.new)"],
  ["an image", "![x](https://example.org/x.png)"],
  ["HTML", "<img src=x onerror=alert(1)>"],
  ["an icon", "$(bug)"],
  ["a bare address", "https://example.org www.example.org"],
  ["an entity", "&lt;b&gt;"],
  ["a new line and a heading", "x\n# heading\n- item"],
])("%s in a record stays text", (_name, hostile) => {
  const markdown = originMarkdown(
    recorded({
      model: hostile,
      intent: hostile,
      decision: { type: "approved", rule: hostile, by: hostile, scope: "" },
    }),
    ok,
    place,
  );
  const rest = markdown.replace(/\[Show where this came from\]\(command:gennai\.showOrigin\?[%\w.-]+\)$/, "");
  // All that Markdown, HTML and VS Code's own marks are made of comes as entities, but in our own frame.
  expect(rest.replace(/&#\d+;/g, "").replace(/^\*\*Record 7\*\*|^- | \(91 %\)$/gm, "")).not.toMatch(/[[\]()<>`*_$!]/);
  expect(rest.split("\n")).toHaveLength(9 + 1);
});
