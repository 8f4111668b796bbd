import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { loadSkills, loadSubAgents } from "../../src/prompt/load-skills.ts";

const skill = (head: string, body = "Do so."): string => `---\n${head}\n---\n${body}\n`;

/** What a workspace and a home with these files have: `name, from, folder/file: description`, and the warnings. */
async function loaded(files: { readonly root?: Record<string, string>; readonly home?: Record<string, string> }) {
  await using root = await temporaryDirectory(files.root ?? {});
  await using home = await temporaryDirectory(files.home ?? {});
  const options = { root: root.root, home: home.root, userDirectory: home.path(".config/gennai") };
  const { found: skills, warnings } = await loadSkills({ ...options, mayRead: async () => true });
  const shown = (text: string): string => text.replaceAll(`${home.root}/`, "~/");
  return {
    skills: [...skills.values()].map((each) =>
      shown(`${each.name}, ${each.from}, ${each.folder}/${each.file}: ${each.description}`),
    ),
    warnings: warnings.map(shown),
  };
}

test("the directories of other agents are read beside our own, of a repository and of a user", async () => {
  const { skills, warnings } = await loaded({
    root: {
      ".gennai/skills/a/SKILL.md": skill("name: a\ndescription: Ours"),
      ".agents/skills/b/SKILL.md": skill("name: b\ndescription: Shared"),
      ".claude/skills/c/SKILL.md": skill("name: c\ndescription: Theirs"),
      ".claude/skills/a/SKILL.md": skill("name: a\ndescription: Twice"),
    },
    home: {
      ".config/gennai/skills/d/SKILL.md": skill("name: d\ndescription: Own"),
      ".claude/skills/b/SKILL.md": skill("name: b\ndescription: The user's wins"),
      ".agents/skills/e/SKILL.md": skill("name: e\ndescription: Everywhere"),
    },
  });
  expect(skills).toEqual([
    "d, user, ~/.config/gennai/skills/d/SKILL.md: Own",
    "e, user, ~/.agents/skills/e/SKILL.md: Everywhere",
    "b, user, ~/.claude/skills/b/SKILL.md: The user's wins",
    "a, repository, .gennai/skills/a/SKILL.md: Ours",
    "c, repository, .claude/skills/c/SKILL.md: Theirs",
  ]);
  expect(warnings).toEqual([
    ".agents/skills/b/SKILL.md: there is a skill b in ~/.claude/skills/b already; it is ignored",
    ".claude/skills/a/SKILL.md: there is a skill a in .gennai/skills/a already; it is ignored",
  ]);
});

test("a command of Claude Code is a skill of one file, described by its front matter or its first line", async () => {
  const { skills } = await loaded({
    root: {
      ".claude/commands/Fix.md": skill("description: Fixes an issue\nargument-hint: NUMBER", "Fix $ARGUMENTS."),
      ".claude/commands/look.md": "Look around.\nThen say what you saw.\n",
    },
  });
  expect(skills).toEqual([
    "fix, repository, .claude/commands/Fix.md: Fixes an issue",
    "look, repository, .claude/commands/look.md: Look around.",
  ]);
});

test("front matter that other agents understand is understood, and what is not is named", async () => {
  const { skills, warnings } = await loaded({
    root: {
      ".claude/skills/colon/SKILL.md": skill("name: colon\ndescription: Use this: always"),
      ".claude/skills/nameless/SKILL.md": skill("description: Named by its folder"),
      ".claude/skills/none/SKILL.md": "Only words.\n",
      ".claude/skills/odd/SKILL.md": skill("name: [1\ntitle: x"),
      ".claude/skills/large/SKILL.md": skill("name: large\ndescription: x", "x".repeat(70_000)),
    },
  });
  expect(skills).toEqual([
    "colon, repository, .claude/skills/colon/SKILL.md: Use this: always",
    "nameless, repository, .claude/skills/nameless/SKILL.md: Named by its folder",
  ]);
  expect(warnings).toHaveLength(3);
  for (const name of ["large", "none", "odd"]) expect(warnings.join("\n")).toContain(`.claude/skills/${name}/SKILL.md`);
});

test("of more than a hundred the last are not looked at, and their number is told once", async () => {
  const numbers = Array.from({ length: 103 }, (_, index) => `s${String(index).padStart(3, "0")}`);
  const root = Object.fromEntries(
    numbers.map((name) => [`.agents/skills/${name}/SKILL.md`, skill(`name: ${name}\ndescription: One`)]),
  );
  const { skills, warnings } = await loaded({ root });
  expect([skills.length, skills.at(-1)?.slice(0, 4)]).toEqual([100, "s099"]);
  expect(warnings).toEqual(["There are more than 100 skills; 3 of the last ones are not looked at"]);
});

test("sub-agents of Claude Code, with their tools; what is no list of tools leaves one out", async () => {
  await using root = await temporaryDirectory({
    ".claude/agents/reviewer.md": skill("name: reviewer\ndescription: Reviews\ntools: Read, Grep", "Review it."),
    ".claude/agents/doer.md": skill("name: doer\ndescription: Does\ndisallowedTools: [Bash]"),
    ".claude/agents/none.md": skill("name: none\ndescription: Nothing\ntools: ''"),
    ".claude/agents/odd.md": skill("name: odd\ndescription: Odd\ntools: {all: true}"),
    ".claude/agents/bare.md": "No front matter.",
  });
  await using home = await temporaryDirectory({
    ".claude/agents/doer.md": skill("name: doer\ndescription: The user's\ntools: [Read]"),
  });
  const options = { root: root.root, home: home.root, userDirectory: home.path(".config/gennai") };
  const { found, warnings } = await loadSubAgents({ ...options, mayRead: async () => true });
  expect([...found.values()].map(({ name, from, tools, without }) => ({ name, from, tools, without }))).toEqual([
    { name: "doer", from: "user", tools: ["Read"], without: [] },
    { name: "none", from: "repository", tools: [], without: [] },
    { name: "reviewer", from: "repository", tools: ["Read", "Grep"], without: [] },
  ]);
  expect(found.get("reviewer")?.instructions).toBe("Review it.");
  expect(warnings.join("\n")).toMatch(
    /bare\.md: begins with no front matter.*\n.*doer\.md: there is a sub-agent doer.*\n.*odd\.md: tools is no list/,
  );
});
