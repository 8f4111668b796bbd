import { expect, test } from "vitest";
import { splitInstall } from "#network/split-install";

test.each<[string, string]>([
  ["npm ci", "'npm' 'ci' '--ignore-scripts'"],
  ["npm install", "'npm' 'install' '--ignore-scripts'"],
  ["npm i -D left-pad@1.3.0 2>&1", "'npm' 'i' '-D' 'left-pad@1.3.0' '--ignore-scripts'"],
  ["npm install --ignore-scripts", "'npm' 'install' '--ignore-scripts'"],
  ["pnpm add zod", "'pnpm' 'add' 'zod' '--ignore-scripts'"],
  ["yarn", "case \"$(yarn --version)\" in 1.*) 'yarn' '--ignore-scripts' ;; *) 'yarn' '--mode=skip-build' ;; esac"],
])("%s is fetched by %s", (text, fetch) => {
  expect(splitInstall(text)?.fetch).toBe(fetch);
});

test.each([
  ...["npm ci && npm test", "npm test", "npm run install", "cd x && npm ci", "npm ci | tail", "npx cowsay"],
  ...["npm --prefix x ci", "npm ci $X", "pip install x"],
])("%s is not split", (text) => {
  expect(splitInstall(text)).toBeUndefined();
});

test("the project's own scripts run where all of it was installed, those of packages always", () => {
  expect(splitInstall("npm ci")?.scripts).toContain(
    "{ npm rebuild && npm run --if-present --ignore-scripts prepublish && ",
  );
  expect(splitInstall("npm install zod")?.scripts).toContain("npm rebuild $names");
  expect(splitInstall("pnpm add zod")?.scripts).toContain("{ pnpm_config_trust_lockfile=true pnpm rebuild; }");
  for (const none of ["npm ci --ignore-scripts", "npm install -g x", "npm install --package-lock-only"]) {
    expect(splitInstall(none)?.scripts).toBeUndefined();
  }
});

const cargoFetch =
  "RUSTC=rustc RUSTC_WRAPPER= RUSTC_WORKSPACE_WRAPPER= CARGO_NET_GIT_FETCH_WITH_CLI=false 'cargo' 'fetch'";

test.each<[string, ReturnType<typeof splitInstall>]>([
  ["cargo build --release", { fetch: cargoFetch, scripts: "'cargo' 'build' '--offline' '--release'" }],
  [
    "cargo test --locked parses -- --nocapture",
    {
      fetch: `${cargoFetch} '--locked'`,
      scripts: "'cargo' 'test' '--no-run' '--offline' '--locked' 'parses'",
      program: "'cargo' 'test' '--offline' '--locked' 'parses' '--' '--nocapture'",
    },
  ],
  [
    "cargo run --manifest-path a/Cargo.toml -- --offline",
    {
      fetch: `${cargoFetch} '--manifest-path' 'a/Cargo.toml'`,
      scripts: "'cargo' 'build' '--offline' '--manifest-path' 'a/Cargo.toml'",
      program: "'cargo' 'run' '--offline' '--manifest-path' 'a/Cargo.toml' '--' '--offline'",
    },
  ],
  [
    "cargo run -p tool serve --offline",
    {
      fetch: cargoFetch,
      scripts: "'cargo' 'build' '--offline' '-p' 'tool'",
      program: "'cargo' 'run' '--offline' '-p' 'tool' 'serve' '--offline'",
    },
  ],
  ["cargo test --no-run parses", { fetch: cargoFetch, scripts: "'cargo' 'test' '--offline' '--no-run' 'parses'" }],
  ["cargo bench --no-run", { fetch: cargoFetch, scripts: "'cargo' 'bench' '--offline' '--no-run'" }],
  [
    "cargo test --doc -p core parses",
    {
      fetch: cargoFetch,
      scripts: "'cargo' 'test' '--no-run' '--offline' '--lib' '-p' 'core' 'parses'",
      program: "'cargo' 'test' '--offline' '--doc' '-p' 'core' 'parses'",
    },
  ],
  ["cargo build --offline", undefined],
  ["cargo add serde", undefined],
  ["cargo build && cargo test", undefined],
])("%s fetches first, builds alone, and only then runs what the workspace has", (text, split) => {
  expect(splitInstall(text)).toEqual(split);
});
