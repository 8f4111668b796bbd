import { readdirSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";

/** The parts of the tools' own directories that programs need. Everything else there stays behind: logins, settings, histories. */
export interface ToolParts {
  /** Absolute paths of the tools' directories. */
  readonly homes: readonly string[];
  /** Absolute paths; they need not exist. */
  readonly shown: readonly string[];
  /** Those that package managers and compilers write to: many fail if they cannot. */
  readonly caches: readonly string[];
}

/** Below the home, unless one of the variables says where; `*` stands for each directory there. */
type ToolHome = readonly [place: string, variables: string, shown: string, caches?: string];

const toolHomes: readonly ToolHome[] = [
  [".local", "", "bin lib"],
  // Node.js
  [".npm", "", "", "_cacache"],
  [".nvm", "NVM_DIR", "versions alias nvm.sh nvm-exec"],
  [".volta", "VOLTA_HOME", "bin tools layout.v4"],
  [".fnm", "FNM_DIR", "node-versions aliases"],
  [".local/share/fnm", "", "node-versions aliases"],
  [".nodenv", "NODENV_ROOT", "bin libexec plugins versions version", "shims"],
  [".local/share/pnpm", "PNPM_HOME", "", "."],
  [".cache/node", "", "", "."],
  [".yarn", "", "bin", "berry"],
  [".cache/yarn", "", "", "."],
  [".bun", "BUN_INSTALL", "bin install"],
  [".deno", "DENO_INSTALL", "bin"],
  [".cache", "", "ms-playwright Cypress"],
  // Python
  [".pyenv", "PYENV_ROOT", "bin lib libexec plugins pyenv.d versions version", "shims"],
  [".local/share", "", "pipx/venvs pypoetry/venv virtualenvs"],
  [".local/share/uv", "", "", "."],
  [".cache", "", "", "pip uv pypoetry pre-commit"],
  ["", "CONDA_PREFIX", "bin lib share libexec ssl include conda-meta"],
  // Rust, Go, Haskell, OCaml, Julia
  [".cargo", "CARGO_HOME", "bin env", "registry git"],
  [".rustup", "RUSTUP_HOME", "toolchains settings.toml update-hashes"],
  ["go", "GOPATH", "bin", "pkg"],
  ["", "GOMODCACHE GOCACHE", "", "."],
  ["", "GOROOT", "bin lib pkg src misc VERSION go.env"],
  ["sdk", "", "*/bin */lib */pkg */src */misc */VERSION */go.env"],
  [".cache/go-build", "", "", "."],
  [".goenv", "GOENV_ROOT", "bin libexec plugins versions version shims"],
  [".ghcup", "", "bin ghc cache share"],
  [".opam", "OPAMROOT", "*/bin */sbin */lib */share"],
  [".juliaup", "", "bin"],
  [".julia", "", "juliaup packages artifacts"],
  // Ruby
  [".rbenv", "RBENV_ROOT", "bin libexec plugins rbenv.d versions version", "shims"],
  ["", "GEM_HOME", "bin gems specifications extensions build_info"],
  // Java, .NET, Android, Dart
  ["", "JAVA_HOME", "bin conf include jmods legal lib release"],
  ["", "MAVEN_HOME GRADLE_HOME", "bin boot lib init.d conf/logging"],
  [".sdkman", "SDKMAN_DIR", "bin candidates ext libexec src var"],
  [".m2", "", "", "repository"],
  [".gradle", "GRADLE_USER_HOME", "wrapper", "caches"],
  [".dotnet", "DOTNET_ROOT", "dotnet host packs sdk shared templates tools"],
  [".nuget", "", "", "packages"],
  ["", "NUGET_PACKAGES", "", "."],
  [
    "Android/Sdk",
    "ANDROID_HOME",
    "build-tools cmake cmdline-tools emulator licenses ndk platform-tools platforms tools",
  ],
  [".pub-cache", "PUB_CACHE", "bin", "hosted git"],
  // Several languages
  [".asdf", "ASDF_DATA_DIR", "asdf.sh bin lib libexec installs plugins", "shims"],
  [".local/share/mise", "MISE_DATA_DIR", "installs plugins shims"],
  [".local/share/rtx", "", "installs plugins shims"],
];

/** @param home real path; undefined if there is none, so that only variables count */
export function toolParts(home: string | undefined, environment: Readonly<Record<string, string>>): ToolParts {
  const homes: string[] = [];
  const shown: string[] = [];
  const caches: string[] = [];
  for (const [place, variables, parts, written = ""] of toolHomes) {
    const named = wordsOf(variables).flatMap((name) => environment[name]?.split(":") ?? []);
    for (const at of [...(home === undefined || place === "" ? [] : [join(home, place)]), ...named]) {
      homes.push(at);
      shown.push(...wordsOf(parts).flatMap((part) => partsAt(at, part)));
      caches.push(...wordsOf(written).map((part) => join(at, part)));
    }
  }
  return { homes, shown, caches };
}

function partsAt(at: string, part: string): readonly string[] {
  const below = /^\*\/(.+)$/.exec(part)?.[1];
  if (below === undefined) return [join(at, part)];
  try {
    return readdirSync(at).map((name) => join(at, name, below));
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}

function wordsOf(text: string): readonly string[] {
  return text.split(" ").filter((word) => word !== "");
}
