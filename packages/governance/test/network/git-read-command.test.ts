import { expect, test } from "vitest";
import { gitReadCommand } from "#network/git-read-command";

test.each<[string, object]>([
  ["git fetch", { verb: "fetch", options: [], remote: undefined, operands: [] }],
  ["git fetch --prune -q origin main", { options: ["--prune", "-q"], remote: "origin", operands: ["main"] }],
  ["git fetch --depth 1 origin", { options: ["--depth=1"], remote: "origin" }],
  ["git ls-remote --heads origin 2>&1", { verb: "ls-remote", options: ["--heads"], remote: "origin" }],
  [
    "git clone -b next --depth=1 git@git.example:a/b.git b",
    { options: ["--branch=next", "--depth=1"], operands: ["b"] },
  ],
  ["git pull --rebase origin main", { verb: "fetch", options: [], remote: "origin", operands: ["main"] }],
])("%s may be given a login", (text, expected) => {
  expect(gitReadCommand(text)).toMatchObject(expected);
});

test.each([
  ...["git fetch --upload-pack=evil origin", "git fetch --recurse-submodules origin"],
  ...["git clone --recurse-submodules x", "git clone --template=evil x", "git clone -c core.sshCommand=evil x"],
  ...["git clone --config core.hooksPath=evil x", "git clone -u evil x", "git clone --reference ../other x"],
  ...["git clone --separate-git-dir=../x x", "git clone -b --upload-pack=evil x", "git clone"],
  ...["git -c core.sshCommand=evil fetch", "git -C sub fetch", "git pull --strategy=evil", "git pull -s evil"],
  ...["git fetch && make", "git fetch $REMOTE", "git remote update", "GIT_SSH=evil git fetch"],
])("%s gets none", (text) => {
  expect(gitReadCommand(text)).toBeUndefined();
});
