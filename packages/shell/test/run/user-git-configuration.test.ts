import { chmodSync } from "node:fs";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test, vi } from "vitest";
import { stagingMachine } from "../staging-machine.ts";

const hook = "#!/bin/sh\necho hook ran; cat ~/hooks/.env || true\n";

const home = {
  ".gitconfig": [
    "[include]\n\tpath = ~/.config/more",
    "[user]\n\tname = Me\n\temail = me@home.example\n\tsigningKey = 0123456789ABCDEF0123456789ABCDEF01234567",
    "[commit]\n\tgpgSign = true\n\ttemplate = ~/template",
    '[credential]\n\thelper = "!echo password=CANARY"\n[credential "https://x.example"]\n\tusername = CANARY',
    '[http]\n\tproxy = http://proxy.example:3128\n\tcookieFile = ~/CANARY\n[http "https://x.example/"]\n\textraHeader = "Authorization: Bearer CANARY"',
    '[url "https://CANARY:x-oauth-basic@github.com/"]\n\tinsteadOf = https://github.com/\n[url "git@github.com:"]\n\tinsteadOf = gh:',
    "[github]\n\ttoken = CANARY\n[sendemail]\n\tsmtpPass = CANARY",
    "[core]\n\thooksPath = ~/hooks\n\tautocrlf = input\n\tattributesFile = ~/attributes",
    '[alias]\n\tlog2 = log --oneline\n\tsay = "!echo said"',
    '[includeIf "gitdir:**/gennai-test-*/"]\n\tpath = work.inc',
    "",
  ].join("\n"),
  "work.inc": "[user]\n\temail = me@work.example\n",
  ".config/more": "[init]\n\tdefaultBranch = trunk\n[core]\n\texcludesFile = ~/.ignored\n",
  ".ignored": "*.mine\n",
  attributes: "*.x -text\n",
  template: "A subject\n",
  "hooks/.env": "CANARY\n",
  "hooks/pre-commit": hook,
};

async function withHome(files: Readonly<Record<string, string>>) {
  await using parts = new AsyncDisposableStack();
  const place = parts.use(await temporaryDirectory(files));
  if ("hooks/pre-commit" in files) chmodSync(place.path("hooks/pre-commit"), 0o755);
  const repository = parts.use(await temporaryRepository({ "a.txt": "1\n" }));
  const machine = parts.use(await stagingMachine(undefined, {}, process.env["PATH"], place.root));
  const owned = parts.move();
  return {
    place,
    run: async (text: string, allowed: Parameters<typeof machine.run>[4] = []) => {
      const staged = await machine.run(repository.root, text, false, undefined, allowed);
      await staged.drop();
      return staged;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

test("a command's git has the user's settings for this repository, and none of the logins", async () => {
  await using user = await withHome(home);
  const { run } = await user.run("git config --global --list; cat ~/.gitconfig ~/hooks/.env ~/.config/more");
  expect(run.output).not.toContain("CANARY");
  for (const line of [
    ...["user.email=me@work.example", "init.defaultbranch=trunk", "core.autocrlf=input", "alias.say=!echo said"],
    ...["url.git@github.com:.insteadof=gh:", "http.proxy=http://proxy.example:3128"],
  ]) {
    expect(run.output.split("\n")).toContain(line);
  }
});

test("commits have the user's address, leave out what the user ignores, run the user's hooks, and are said to be unsigned", async () => {
  await using user = await withHome(home);
  const commit =
    "touch b.mine b.x && git add -A && git commit -qm two; git show --name-only --format='%an %ae %G?'; git say; git check-attr text b.x";
  const staged = await user.run(commit);
  expect(staged.run.output.replace(/^cat: .*\n/m, "")).toBe(
    "hook ran\nMe me@work.example N\n\nb.x\nsaid\nb.x: text: unset\n",
  );
  expect(staged.unsigned).toBe(true);
  expect((await user.run("git status")).unsigned).toBe(false);
  // The user's programs get no way out.
  const { run } = await user.run(commit, [{ host: "registry.example", port: 80 }]);
  expect(run.output).not.toContain("hook ran");
  await user.place.write(".gitconfig", "[user]\n\tname = Other\n\temail = o@example\n");
  expect((await user.run(commit)).run.output).toMatch(/^Other o@example N\n\nb.mine\nb.x\n/);
});

test("variables and files that the server's user names are read before the usual ones", async () => {
  await using user = await withHome({
    ".gitconfig": "[user]\n\tname = Me\n",
    own: "[user]\n\tname = Own\n\temail = o@own\n",
  });
  vi.stubEnv("GIT_CONFIG_GLOBAL", user.place.path("own"));
  vi.stubEnv("GIT_AUTHOR_NAME", "Author");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { run } = await user.run("git commit -q --allow-empty -m x; git show -s --format='%an %cn %ae'");
  expect(run.output).toBe("Author Own o@own\n");
});

test("without settings of git the home has none", async () => {
  await using user = await withHome({});
  const { run } = await user.run("git config --global user.name Me && git config user.name; ls -A ~");
  expect(run.output).toBe("Me\n.gitconfig\n");
});
