import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const rule = { id: "apply", pattern: "^curl", reason: "Ask first.", ask: true };
const files = { "a.txt": "one\n", ".gennai/rules.yaml": JSON.stringify({ bashToolPatterns: [rule] }) };

test("a command with two questions keeps both answers: in ledger, report and damage-control log", async () => {
  await using here = await cliScene(files);
  const console = here.console();
  const done = runCommandLine(["run", "--ask", "run curl -s https://example.com/"], console);
  const shown = () => console.printed() + console.complained();
  // What is typed before it can be read is no answer.
  await expect.poll(shown).toMatch(/Allow Bash\?[\s\S]* n \[reason\] > /);
  console.input.write("y\n");
  await expect.poll(shown).toMatch(/Let curl reach example\.com:443\?[\s\S]* n \[reason\] > /);
  console.input.write("n\n");
  expect(await done).toBe(3);

  const { out } = await here.run("report", "--since", "main", "--json", "--include", "people,decision");
  const { asked } = JSON.parse(out) as { asked: readonly object[] };
  expect(asked).toMatchObject([
    { rule: "rules/project/apply", answer: "yes", by: expect.stringContaining("user at") },
    { rule: "network/connection", answer: "no", by: expect.stringContaining("user at") },
  ]);
  expect((await here.run("policy", "log")).out).toContain("confirmed rules/project/apply");
  const explained = (await here.run("ledger", "explain", "offline-1-1")).out;
  expect(explained).toMatch(/said yes, for this once\n +rule +rules\/project\/apply/);
  expect((await here.run("ledger", "verify")).code).toBe(0);
});
