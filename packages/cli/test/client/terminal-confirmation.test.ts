import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { expect, test } from "vitest";
import { confirmAtTerminal } from "#client/terminal-confirmation";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const question = askedQuestion({
  intentReflection: "none",
  actionStatement: "Run `rm src/a.ts`",
  computed: { risk: "medium", paths: ["src/a.ts"], rule: "commands/x", reason: "not proven", policySha256: "" },
  offeredScopes: ["once", "turn", "session"],
  patterns: [
    {
      id: "digest",
      text: "rm src/*.ts",
      rule: "commands/x",
      matchedBefore: ["Run `rm src/\u001b[2K.ts`"],
      wouldMatch: ["rm src/other.ts"],
      wouldNotMatch: ["sudo rm src/other.ts", "rm lib/a.ts"],
    },
  ],
});

/** What a person sees who is asked, and the reply to a line. */
async function asked(about: ConfirmationQuestion, line: string | undefined) {
  let shown = "";
  const reply = await confirmAtTerminal(about, {
    input: {
      question: async (prompt) => {
        shown += prompt;
        return line;
      },
    },
    write: (text) => void (shown += text),
    paint: (_style, text) => text,
    signal: new AbortController().signal,
  });
  return { shown, reply };
}

test("a person sees a pattern with what it covers and not, and picks it", async () => {
  const { shown, reply } = await asked(question, "s1");
  expect(reply).toEqual({ answer: "yes", scope: "session", pattern: "digest" });
  expect(shown).toContain("  pattern 1  rm src/*.ts\n");
  expect(shown).toContain("answers commands/x");
  expect(shown).toContain("covers in this session so far: “Run `rm src/\\u{1b}[2K.ts`”");
  expect(shown).toContain("also covers: “rm src/other.ts”");
  expect(shown).toContain("never covers: “sudo rm src/other.ts”, “rm lib/a.ts”");
  expect(shown).toContain("t1 or s1 for pattern 1");
});

test("what would be kept is shown, and nothing of it moves the cursor", async () => {
  const diff = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+\u001b[2Kevil\n";
  const { shown } = await asked({ ...question, diff }, "n");
  expect(shown).toContain("+++ b/a.txt\n@@ -0,0 +1,1 @@\n+\\u{1b}[2Kevil\n");
});

test("of what a command has changed, what is asked about stands apart, and the rest can be kept", async () => {
  const parts = [
    { id: "1", name: "AGENTS.md", rule: "control-files/x", reason: "It steers\u001b[2K.", needs: [] },
    { id: "2", name: "a.txt", rule: "", reason: "", needs: [] },
    { id: "3", name: ".git", rule: "", reason: "", needs: ["1"] },
  ];
  const { shown, reply } = await asked({ ...question, parts }, "r");
  expect(reply).toEqual({ answer: "yes", scope: "once", dropped: ["1", "3"] });
  expect(shown).toContain("  asked   AGENTS.md\n          It steers\\u{1b}[2K. (control-files/x)\n");
  expect(shown).toContain("  rest    a.txt, .git\n");
  expect(shown).toContain("y keep all · r keep only the rest, without what this question is about ·");
});

test("input that ends before an answer is said to have ended, and is no yes", async () => {
  const { shown, reply } = await asked(question, undefined);
  expect(reply).toMatchObject({ answer: "nobody" });
  expect(shown).toContain("The input ended before an answer: that is a no.");
});
