import { expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import { opensConnections } from "#network/opens-connections";
import { splitInstall } from "#network/split-install";
import { agreedControl } from "#policies/files/agreed-control";
import { knownPrograms, verbOf } from "#programs/known-programs";

const command = (text: string) => analyseCommand(text, { cwd: "/w", home: "/h" });

/** What each reader makes of a command: `i`nstall in two runs, `p`ackages or `m`anifests agreed, `c`onnects, `l`ogin. */
function answers(text: string): string {
  const analysis = command(text);
  const { installs, manifests } = agreedControl(analysis);
  const [{ name, words } = { name: "", words: [] }] = analysis.commands;
  const found = verbOf(name, words);
  return [
    splitInstall(text) === undefined ? "" : "i",
    installs ? "p" : "",
    manifests.length > 0 ? "m" : "",
    opensConnections(analysis) ? "c" : "",
    found?.verb.login === true && found.isCertain ? "l" : "",
  ].join("");
}

test.each<[commands: string, answers: string]>([
  ["npm install, npm i, npm in, npm ins, npm add, npm ci, npm clean-install, npm update, npm upgrade, npm up", "ipcl"],
  ["npm outdated, npm view x, npm show x", "cl"],
  ["npm uninstall x, npm un x, npm rm x, npm dedupe, npm prune, npm rebuild", "p"],
  ["npm install-test, npm audit", "pc"],
  ["npm init, npm create vite", "mc"],
  ["npm pkg set x=y, npm version patch", "m"],
  ["npm publish, npm unpublish x, pnpm publish, yarn npm publish, cargo publish, gem push x, mix hex.publish", "cl"],
  ["npm exec x, npx x", "c"],
  ["npm run build, npm test, npm explain x, npm foo", ""],
  ["pnpm install, pnpm i, pnpm add x, pnpm upgrade", "ipcl"],
  ["pnpm uninstall x, pnpm rm x, pnpm import, pnpm rebuild", "p"],
  ["pnpm fetch, pnpm outdated", "cl"],
  ["yarn, yarn install, yarn add x, yarn --frozen-lockfile", "ipcl"],
  ["yarn --version, yarn foo, yarn run x", ""],
  ["bun install, bun add x", "pcl"],
  ["pip install x, pip3 download x, pip3.12 install x, python3 -m pip install x, python3.12 -m pip wheel x", "cl"],
  ["python3 pip install x, python3 -m http.server, pip freeze", ""],
  ["poetry add x, pdm add x, composer require x, bundle add x", "mcl"],
  ["uv add x, hatch add x", "mc"],
  [
    "poetry install, pdm lock, uv pip install x, composer install, bundle install, gem install x, go get x, go mod tidy",
    "cl",
  ],
  ["uv sync, hatch update", "c"],
  ["twine upload dist/x, poetry publish, bun publish, npm owner ls, skopeo inspect docker://h/x, podman pull x", "cl"],
  ["cpanm Foo, cpan Foo, cabal update, cabal get x, cabal upload x.tar.gz", "cl"],
  ["go build, go test ./..., cabal build, cabal test, mvn verify, mvn -q compile", "l"],
  ["cabal init, stack new x", "m"],
  ["stack build, stack update, stack test, opam install x, opam switch create 5", "c"],
  ["opam remove x, opam list", ""],
  ["cabal sdist, composer run x, gem list, skopeo delete docker://h/x", ""],
  ["pixi add x", "mc"],
  ["pixi rm x, pixi init", "m"],
  ["dub add x", "mc"],
  ["dub init", "m"],
  ["dub fetch x, dub build, nimble install x, nimble test", "c"],
  ["nimble publish", "cl"],
  ["dub list, nimble uninstall x", ""],
  ["pixi install, pixi exec x, mix deps.get", "c"],
  ["cargo build, cargo test, cargo run, cargo +nightly clippy", "il"],
  ["cargo update, cargo fetch, cargo add x", "cl"],
  ["gh auth status", "c"],
  ["gh pr list", "cl"],
  ["git fetch, git pull, git push, git clone x", "cl"],
  ["curl x, ssh h, rsync a h:b", "c"],
])("%s: %s", (commands, expected) => {
  for (const text of commands.split(", ")) expect([text, answers(text)]).toEqual([text, expected]);
});

test("an option that is not known may have taken the verb as its value", () => {
  expect(verbOf("npm", ["--foo", "install", "x"])).toMatchObject({ name: "install", isCertain: false });
  expect(verbOf("npm", ["--prefix", "install", "ci"])).toMatchObject({ name: "ci", isCertain: true });
  expect(verbOf("npm", ["--silent", "--json", "ci"])).toMatchObject({ name: "ci", isCertain: true });
  expect(verbOf("npm", [undefined, "install"])).toBeUndefined();
  expect(verbOf("yarn", [undefined])).toBeUndefined();
});

test("each name is declared once", () => {
  const names = knownPrograms.flatMap(({ names: all }) => all.split(" "));
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});
