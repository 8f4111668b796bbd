import type { Program, Verb } from "./program.ts";
import { asks, gets, names, publishes, signsIn } from "./shared-rows.ts";

/** Packages have build scripts, and macros that run in the compiler. */
const builds: Verb = { login: true, apart: "build" };

/** A `rustc-wrapper` of the workspace runs with it: no answer for its connections lasts. */
export const cargo: Program = {
  names: "cargo",
  obeys: "Cargo.toml build.rs .cargo/config.toml",
  tellsVersion: true,
  valued: "--config --color -C -Z",
  hosts: "index.crates.io static.crates.io crates.io",
  settings: ".cargo/config .cargo/config.toml",
  logins: ["cargo"],
  apart: {
    type: "build",
    fetch: "fetch",
    // Programs that the project's settings could name.
    environment: "RUSTC=rustc RUSTC_WRAPPER= RUSTC_WORKSPACE_WRAPPER= CARGO_NET_GIT_FETCH_WITH_CLI=false",
    offline: "--offline",
    fetchesNothing: /^--(?:offline|frozen)$/,
    passed: /^--(?:locked$|(?:manifest-path|config)=)/,
    passedWithValue: /^--(?:manifest-path|config)$/,
    values:
      /^(?:-[pFjZ]|--(?:package|features|jobs|bin|example|profile|target|target-dir|manifest-path|lockfile-path|config|color|message-format))$/,
    build: "build",
    noRun: "--no-run",
    // `cargo build` leaves out what only tests depend on.
    examples: { option: "--doc", instead: "--lib" },
  },
  dangers: [signsIn],
  verbs: {
    "build b check c clippy doc d rustc": builds,
    "test t bench": { login: true, names: true, apart: "test" },
    "run r": { login: true, apart: "run" },
    fetch: { reaches: true, login: true },
    "add update": asks,
    "generate-lockfile vendor tree metadata": { login: true },
    "remove rm uninstall": names,
    "install search info": gets,
    publish: publishes,
    yank: publishes,
    owner: publishes,
    "release workspaces": { deploys: true },
  },
};

export const rustup: Program = {
  names: "rustup",
  hosts: "static.rust-lang.org",
  verbs: { "install update": gets, "uninstall show run": names },
};
