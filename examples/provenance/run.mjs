import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { story } from "../story.mjs";

const sentence = "Printed on Fridays, with the colours of the week.";

await story(({ workspace, say, gennai, expect }) => {
  const home = join(workspace, "..");
  /** @param {string[]} args */
  const git = (...args) => {
    const you = ["-c", "user.name=You", "-c", "user.email=you@example.org", "-c", "core.editor=true"];
    const env = { ...process.env, HOME: home };
    return execFileSync("git", [...you, ...args], {
      cwd: workspace,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  };

  say("On a branch, the agent adds a sentence to the README.");
  git("switch", "--quiet", "--create", "work");
  const ran = gennai("run", "--yes", `append '${sentence}' to README.md`);
  expect(ran.code === 0, "the agent did it", ran.output);
  git("commit", "--quiet", "--message", "The agent's", "README.md");

  say("A person writes above it, and renames the file.");
  const readme = join(workspace, "README.md");
  writeFileSync(readme, `Words of a person.\n\n${readFileSync(readme, "utf8")}`);
  git("mv", "README.md", "ABOUT.md");
  git("commit", "--quiet", "--all", "--message", "The person's");

  say("Meanwhile the main branch went on. The work is rebased and squashed: no commit of the agent's is left.");
  git("switch", "--quiet", "main");
  appendFileSync(join(workspace, "docs/palettes.md"), "\nMeanwhile, by somebody else.\n");
  git("commit", "--quiet", "--message", "Meanwhile", "docs/palettes.md");
  git("rebase", "--quiet", "main", "work");
  git("reset", "--quiet", "--soft", "main");
  git("commit", "--quiet", "--message", "One commit, by a person");
  const authors = git("log", "--format=%an", "main..work").trim();
  expect(authors === "You", "git knows one commit, and one author", authors);

  say("Whose is the sentence?");
  const line = readFileSync(join(workspace, "ABOUT.md"), "utf8").split("\n").indexOf(sentence) + 1;
  const blamed = gennai("blame", `ABOUT.md:${line}`);
  expect(/agent offline\/gennai in session/.test(blamed.output), "the agent's, and in which session", blamed.output);
  const first = gennai("blame", "ABOUT.md:1", "--json");
  expect(/"unknown":"not-recorded"/.test(first.stdout), "of the person's words, nothing is said", first.output);

  say("A reviewer asks how much of it is an agent's.");
  const report = JSON.parse(gennai("report", "--since", "main", "--json").stdout);
  expect(report.writers[0]?.name === "offline/gennai", "the report names the agent", JSON.stringify(report));
  expect(report.withoutVerification.length === 0, "every line of the agent's was looked at");

  say("A note goes along with the commit, to a clone that has no ledger.");
  const noted = gennai("provenance", "note");
  expect(noted.code === 0, "it is written, because it was asked for", noted.output);
  const clone = join(home, "clone");
  git("clone", "--quiet", "--branch", "work", workspace, clone);
  git("-C", clone, "fetch", "--quiet", "origin", "refs/notes/agent-trace:refs/notes/agent-trace");
  const key = join(home, ".local/state/gennai/keys/ledger.ed25519.pub");
  const there = ["--workspace", clone, "--notes", "--public-key", key, "--json"];
  const elsewhere = gennai("blame", join(clone, `ABOUT.md:${line}`), ...there);
  expect(
    /"model":"offline\/gennai"/.test(elsewhere.stdout),
    "the clone knows it, by the signed note",
    elsewhere.output,
  );
});
