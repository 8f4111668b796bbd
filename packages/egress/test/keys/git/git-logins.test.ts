import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ownLogins } from "#keys/own-logins";

const { signal } = new AbortController();

async function loginsFor(text: string, remotes: Readonly<Record<string, string>> = {}, origin = "https://git.example") {
  await using repository = await temporaryRepository({
    "home/.gitconfig": `[credential "${origin}"]\n\thelper = "!printf 'username=me\\\\npassword=correct-horse\\\\n' #"\n`,
  });
  for (const [name, address] of Object.entries(remotes)) await repository.git("remote", "add", name, address);
  const home = repository.path("home");
  const keys = { home, environment: { HOME: home, PATH: process.env["PATH"] } };
  const before = process.env["HOME"];
  process.env["HOME"] = home;
  try {
    const { root } = repository;
    const command = analyseCommand(text, { cwd: root, home });
    const { logins, inRun } = await ownLogins(command, { directory: root, workspaceRoot: root, keys, signal });
    return { logins, inRun: inRun(logins), opened: await Promise.all(logins.map((login) => login.open({ signal }))) };
  } finally {
    process.env["HOME"] = before;
  }
}

test.each(["https://[::1]:8443", "https://[::1]", "http://git.example:8080"])(
  "the login of the user's own helper for %s is that for this place; the run's git has a placeholder for it",
  async (origin) => {
    const { opened, inRun } = await loginsFor(`git clone "${origin}/me/r.git"`, {}, origin);
    expect(opened).toHaveLength(1);
    const [login] = opened;
    expect(login?.secrets).toContain("correct-horse");
    const use = login?.use({
      method: "GET",
      path: "/me/r.git/info/refs",
      query: "?service=git-upload-pack",
      headers: {},
    });
    expect(use?.authorization).toBe(`Basic ${Buffer.from("me:correct-horse").toString("base64")}`);
    expect(inRun.git).toEqual([[`credential.${origin}.helper`, expect.stringContaining(login?.placeholder ?? "none")]]);
    expect(JSON.stringify(inRun)).not.toContain("correct-horse");
  },
);

const mine = "https://git.example/me/r.git";
const other = "https://git.example/you/r.git";
const commands: readonly (readonly [
  text: string,
  remotes: Readonly<Record<string, string>>,
  login: string | undefined,
])[] = [
  ["git push", { origin: mine }, "/me/r.git, at once"],
  ["git push -u origin work", { origin: mine, upstream: other }, "/me/r.git, at once"],
  ["git push upstream work:main", { origin: mine, upstream: other }, "/you/r.git, at once"],
  ["git fetch", { origin: mine }, "/me/r.git"],
  ["git fetch upstream && git push", { origin: mine, upstream: other }, "/you/r.git and /me/r.git, at once"],
  ["git add -A; git commit -m x | cat; git push || true", { origin: mine }, "/me/r.git, at once"],
  [`git clone ${mine} there`, {}, "/me/r.git"],
  ["git push", { origin: "ssh://git@git.example/me/r.git" }, undefined],
  ["git push", { origin: "https://elsewhere.example/me/r.git" }, undefined],
  ["git push", {}, undefined],
  ["git status", { origin: mine }, undefined],
  ["echo git push", { origin: mine }, undefined],
];

test.each(commands)("%s, where the remotes are %o, has the login for: %s", async (text, remotes, expected) => {
  const { logins } = await loginsFor(text, remotes);
  const told = logins.map(({ login, isNeeded }) => `${/ in (.*)$/.exec(login)?.[1]}${isNeeded ? ", at once" : ""}`);
  expect(told).toEqual(expected === undefined ? [] : [expected]);
});

test.each<[text: string, expected: RegExp | undefined]>([
  ["git push origin HEAD:x", /^push \w{40} to refs\/heads\/x \(new\)$/],
  [
    "git push -u --force origin +HEAD:x HEAD:y",
    /^push \w{40} to refs\/heads\/x \(new\), push \w{40} to refs\/heads\/y/,
  ],
  ["git push", /^push \w{40} to refs\/heads\/\w+ \(new\)$/],
  ["git push origin :x", undefined],
  ["git push origin nowhere", undefined],
  ["git push --tags", undefined],
  ["git push --delete origin x", undefined],
  ["git push origin HEAD:x | cat", undefined],
  ["git commit -m x && git push", undefined],
  [`git push ${mine} HEAD:x`, undefined],
])("%s: what it will send is known before: %s", async (text, expected) => {
  const { logins } = await loginsFor(text, { origin: mine });
  expect(logins).toHaveLength(1);
  const expects = logins[0]?.expects?.what;
  if (expected === undefined) expect(expects).toBeUndefined();
  else expect(expects).toMatch(expected);
});
