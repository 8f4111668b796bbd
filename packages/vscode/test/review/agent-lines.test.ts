import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentStep, type WithAgentLines, withAgentLines, withoutAgent } from "../../src/review/agent-lines.ts";

const head = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const step = (before: string | undefined, after: string | undefined): AgentStep => ({ before, after });
const agents = head.replace("2", "two");
const both = agents.replace("8", "mine");
const text = (written: string): WithAgentLines => ({ type: "text", text: written });

const rows: readonly {
  readonly name: string;
  readonly onto: string | undefined;
  readonly now: string | undefined;
  readonly steps: readonly AgentStep[];
  readonly wanted: WithAgentLines;
}[] = [
  { name: "nothing else", onto: head, now: agents, steps: [step(head, agents)], wanted: text(agents) },
  { name: "the user's line after", onto: head, now: both, steps: [step(head, agents)], wanted: text(agents) },
  {
    name: "the user's line before",
    onto: head,
    now: both,
    steps: [step(head.replace("8", "mine"), both)],
    wanted: text(agents),
  },
  {
    name: "the user's line staged",
    onto: head.replace("8", "mine"),
    now: both,
    steps: [step(head, agents)],
    wanted: text(both),
  },
  {
    name: "two steps, and the user between",
    onto: head,
    now: both.replace("two", "zwei"),
    steps: [step(head, agents), step(both, both.replace("two", "zwei"))],
    wanted: text(head.replace("2", "zwei")),
  },
  { name: "what is committed", onto: agents, now: both, steps: [step(head, agents)], wanted: { type: "same" } },
  {
    name: "what the user took back",
    onto: head,
    now: head.replace("8", "mine"),
    steps: [step(head, agents)],
    wanted: { type: "same" },
  },
  {
    name: "one of two changes that the user took back",
    onto: head,
    now: head.replace("5", "five"),
    steps: [step(head, agents.replace("5", "five"))],
    wanted: text(head.replace("5", "five")),
  },
  {
    name: "the user's line right beside",
    onto: head,
    now: agents.replace("3", "mine"),
    steps: [step(head, agents)],
    wanted: text(agents),
  },
  {
    name: "lines of both at one place",
    onto: head,
    now: head.replace("2\n", "2\nagent\nmine\n"),
    steps: [step(head, head.replace("2\n", "2\nagent\n"))],
    wanted: { type: "apart" },
  },
  {
    name: "line ends of Windows",
    onto: head.replaceAll("\n", "\r\n"),
    now: both.replaceAll("\n", "\r\n"),
    steps: [step(head.replaceAll("\n", "\r\n"), agents.replaceAll("\n", "\r\n"))],
    wanted: text(agents.replaceAll("\n", "\r\n")),
  },
  { name: "a new file", onto: undefined, now: "a\n", steps: [step(undefined, "a\n")], wanted: text("a\n") },
  {
    name: "a new file with the user's line",
    onto: undefined,
    now: "mine\na\n",
    steps: [step(undefined, "a\n")],
    wanted: text("a\n"),
  },
  {
    name: "a new file without a line",
    onto: undefined,
    now: "a\n",
    steps: [step(undefined, "a\nb\n")],
    wanted: text("a\n"),
  },
  {
    name: "a new file with one line that the user wrote anew",
    onto: undefined,
    now: "a\nmine\nc\n",
    steps: [step(undefined, "a\nb\nc\n")],
    wanted: text("a\nc\n"),
  },
  {
    name: "lines of which the user wrote one anew",
    onto: head,
    now: head.replace("4\n5\n6\n", "four\nmine\nsix\n"),
    steps: [step(head, head.replace("4\n5\n6\n", "four\nfive\nsix\n"))],
    wanted: { type: "apart" },
  },
  {
    name: "a new file of two steps",
    onto: undefined,
    now: "a\nmine\nb\n",
    steps: [step(undefined, "a\n"), step("a\nmine\n", "a\nmine\nb\n")],
    wanted: text("a\nb\n"),
  },
  {
    name: "a file that only the user has",
    onto: undefined,
    now: "mine\na\n",
    steps: [step("mine\n", "mine\na\n")],
    wanted: { type: "apart" },
  },
  { name: "a deletion", onto: head, now: undefined, steps: [step(head, undefined)], wanted: { type: "gone" } },
  {
    name: "a deletion of more than git has",
    onto: head,
    now: undefined,
    steps: [step(both, undefined)],
    wanted: { type: "apart" },
  },
  {
    name: "a deletion by the user",
    onto: head,
    now: undefined,
    steps: [step(head, agents)],
    wanted: { type: "same" },
  },
];

test.each(rows)("takes exactly the agent's lines: $name", ({ onto, now, steps, wanted }) => {
  expect(withAgentLines(onto, now, steps)).toEqual(wanted);
});

/** Who writes a line at each place; between two places is a line that nobody touches. */
const places = fc.array(fc.constantFrom("agent", "user", "nobody"), { minLength: 1, maxLength: 8 });

test("whatever lines each of them adds, git gets the agent's, and the rest of the file is the user's", () => {
  fc.assert(
    fc.property(places, fc.boolean(), (who, isUserFirst) => {
      const made = (writers: readonly string[]) =>
        who.map((one, at) => `${writers.includes(one) ? `${one} ${at}\n` : ""}kept ${at}\n`).join("");
      const [base, agent, user, all] = [made([]), made(["agent"]), made(["user"]), made(["agent", "user"])];
      const steps = [isUserFirst ? step(user, all) : step(base, agent)];
      expect(withAgentLines(base, all, steps)).toEqual(agent === base ? { type: "same" } : text(agent));
      expect(withoutAgent(all, steps)).toBe(user);
    }),
  );
});
