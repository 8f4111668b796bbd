import { expect, test } from "vitest";
import { cleanGitSettings } from "#keys/git/clean-git-settings";
import { gitAddressText, readGitAddress } from "#keys/git/git-address";

test.each<[string, object]>([
  ["git@git.example:me/r.git", { scheme: "ssh", host: "git.example", port: undefined, user: "git", path: "me/r.git" }],
  ["work:r.git", { scheme: "ssh", host: "work", user: undefined }],
  ["ssh://git@git.example:2222/me/r.git", { scheme: "ssh", port: 2222, user: "git", path: "/me/r.git" }],
  ["git+ssh://git.example/r", { scheme: "ssh" }],
  ["https://git.example/me/r.git", { scheme: "https", port: undefined, user: undefined }],
  ["http://127.0.0.1:7300/r.git", { scheme: "http", port: 7300 }],
  ["ssh://[::1]:22/r", { host: "::1", port: 22 }],
])("%s leads to one host", (text, expected) => {
  const address = readGitAddress(text);
  expect(address).toMatchObject(expected);
  if (typeof address !== "string") expect(readGitAddress(gitAddressText(address))).toEqual(address);
});

test("a password in an address goes nowhere", () => {
  const address = readGitAddress("https://me:secret@git.example/r.git");
  expect(typeof address === "string" ? address : gitAddressText(address)).toBe("https://me@git.example/r.git");
});

test.each(["/srv/r.git", "../r.git", "r", "file:///srv/r.git", "."])("%s is a directory", (text) => {
  expect(readGitAddress(text)).toBe("local");
});

test.each([
  ...["ext::sh -c evil", "git://git.example/r.git", "ftp://git.example/r.git", "ssh://-oProxyCommand=evil/r.git"],
  ...["-oProxyCommand=evil:r.git", "ssh://git.example/-x\n", "git@git.example:-oProxyCommand=evil"],
  ...["https://git.example:99999/r", "https://git.example@evil.example@x/r", "https://git.exam ple/r", "https:///r"],
  ...["ssh://me@-evil/r", "$(evil):r.git"],
])("%j is not an address that a login is given to", (text) => {
  expect(readGitAddress(text)).toBe("unknown");
});

test("of a repository's settings, only what its data looks like and what follows what is left", () => {
  const clean = cleanGitSettings(
    [
      ["core.repositoryformatversion", "0"],
      ["core.sshcommand", "evil"],
      ["core.fsmonitor", "evil"],
      ["core.hookspath", "evil"],
      ["core.worktree", "/elsewhere"],
      ["credential.helper", "evil"],
      ["credential.https://git.example.helper", "evil"],
      ["url.https://evil.example/.insteadof", "https://git.example/"],
      ["include.path", "evil"],
      ["http.proxy", "evil"],
      ["http.https://git.example/.extraheader", "evil"],
      ["remote.origin.url", "https://evil.example/"],
      ["remote.origin.pushurl", "https://evil.example/"],
      ["remote.origin.push", "+refs/*:refs/*"],
      ["remote.origin.mirror", "true"],
      ["remote.origin.receivepack", "evil"],
      ["remote.origin.vcs", "evil"],
      ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
      ["remote.origin.fetch", "+refs/heads/*:refs/heads/*"],
      ["remote.other.fetch", "+refs/heads/*:refs/remotes/other/*"],
      ['branch.a"]\n[core.merge', "evil"],
      ['branch.a"b.merge', "refs/heads/x\n[core]\nsshCommand = evil"],
      ["gpg.program", "evil"],
      ["push.gpgsign", "true"],
      ["alias.push", "!evil"],
    ],
    new Map([["origin", "https://git.example/r.git"]]),
  );
  expect(clean.match(/evil/g)).toHaveLength(1);
  expect(clean.split("\n").filter((line) => line !== "")).toEqual([
    ...["[core]", '\trepositoryformatversion = "0"', '[remote "origin"]'],
    ...['\tfetch = "+refs/heads/*:refs/remotes/origin/*"', '[branch "a\\"b"]'],
    ...['\tmerge = "refs/heads/x\\n[core]\\nsshCommand = evil"', '[remote "origin"]'],
    '\turl = "https://git.example/r.git"',
  ]);
});
