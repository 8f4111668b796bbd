import { foldName, foldPath } from "../../command/words/fold-name.ts";
import { globMatcher } from "../../glob-matcher.ts";

/** How a path bears on what governs the agent, or on what runs by itself later. */
export interface ControlPath {
  /** `protected`: never for the agent; `sensitive`: needs a user, because tools run or obey its content. */
  readonly level: "protected" | "sensitive";
  /** A description for the reason. */
  readonly what: string;
}

/** Names that are protected as any component of a path, whether they exist yet or not. All folded. */
const protectedNames: ReadonlyMap<string, string> = new Map([
  [".git", "git's own data"],
  ["git~1", "git's own data"],
  [".hg", "data of a version control system"],
  [".jj", "data of a version control system"],
  [".svn", "data of a version control system"],
  [".gennai", "the agent's own configuration"],
  [".pi", "the agent's own configuration"],
  [".agent", "the agent's own configuration"],
  [".orchestration", "the record of intents and of what the agent did"],
  [".intentignore", "the list of paths that no intent may edit"],
  [".vscode", "the editor's configuration"],
  [".vs", "the editor's configuration"],
  [".idea", "the editor's configuration"],
  [".zed", "the editor's configuration"],
  [".fleet", "the editor's configuration"],
  [".devcontainer", "the development container"],
  [".devcontainer.json", "the development container"],
  [".husky", "git hooks"],
  [".lefthook", "git hooks"],
  [".mcp.json", "the configuration of tool servers"],
  ["mcp.json", "the configuration of tool servers"],
  [".cursor", "another agent's configuration"],
  [".claude", "another agent's configuration"],
  [".claude.json", "another agent's configuration"],
  [".codex", "another agent's configuration"],
  [".gemini", "another agent's configuration"],
  [".roo", "another agent's configuration"],
  [".windsurf", "another agent's configuration"],
  [".continue", "another agent's configuration"],
  [".continuerc.json", "another agent's configuration"],
  [".aider.conf.yml", "another agent's configuration"],
  [".agents", "another agent's configuration"],
  [".opencode", "another agent's configuration"],
  [".opencode.json", "another agent's configuration"],
  ["opencode.json", "another agent's configuration"],
  ["opencode.jsonc", "another agent's configuration"],
  [".qwen", "another agent's configuration"],
  [".copilot", "another agent's configuration"],
  [".factory", "another agent's configuration"],
  ["crush.json", "another agent's configuration"],
  [".crush.json", "another agent's configuration"],
  [".kiro", "another agent's configuration"],
  [".yarnrc.yml", "configuration that the package manager runs"],
  [".yarnrc", "configuration that the package manager runs"],
  [".pnpmfile.cjs", "configuration that the package manager runs"],
  [".pnpmfile.mjs", "configuration that the package manager runs"],
  ["pnpmfile.js", "configuration that the package manager runs"],
  [".envrc", "a script that the shell runs by itself"],
  [".bashrc", "a script that the shell runs by itself"],
  [".bash_profile", "a script that the shell runs by itself"],
  [".profile", "a script that the shell runs by itself"],
  [".zshrc", "a script that the shell runs by itself"],
  [".zshenv", "a script that the shell runs by itself"],
  [".gitconfig", "git's configuration"],
  [".hgrc", "Mercurial's configuration"],
  [".huskyrc", "git hooks"],
  [".gdbinit", "a script that a debugger runs by itself"],
  [".lldbinit", "a script that a debugger runs by itself"],
  [".exrc", "a script that an editor runs by itself"],
  [".vimrc", "a script that an editor runs by itself"],
  [".nvimrc", "a script that an editor runs by itself"],
  [".lvimrc", "a script that an editor runs by itself"],
  [".nvim.lua", "a script that an editor runs by itself"],
  [".dir-locals.el", "a script that an editor runs by itself"],
  [".ripgreprc", "configuration that a program obeys"],
  [".inputrc", "configuration that a program obeys"],
  [".curlrc", "configuration that a program obeys"],
  [".wgetrc", "configuration that a program obeys"],
]);

/** The same for names of which only a part is known. All folded. */
const protectedShapes: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^\.(?:aider|continue)/, "another agent's configuration"],
  [/\.(?:code-workspace|sublime-project)$/, "the editor's configuration"],
];

/** Files that shells, desktops and service managers start, as folded path endings. */
const startedByItself =
  /(?:^|\/)(?:\.config\/(?:fish|systemd|autostart|environment\.d|nushell|git)|\.local\/share\/systemd|library\/launch(?:agents|daemons)|etc\/(?:cron(?:tab|\.\w+)|systemd|profile(?:\.d)?|init\.d|rc\.local))(?:\/|$)/;

/** Files that a user should see before they change, as folded path endings. `*` matches the rest of one component. */
const sensitiveTails: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?:^|\/)\.gitattributes$/, "git attributes, which can name programs"],
  [/(?:^|\/)\.gitmodules$/, "git submodules"],
  [/(?:^|\/)head$/, "what makes git take a directory for a repository"],
  [
    /(?:^|\/)\.pre-commit-config\.ya?ml$|(?:^|\/)\.?lefthook\.ya?ml$|(?:^|\/)(?:lint-staged\.config\.|\.lintstagedrc|\.huskyrc|\.?simple-git-hooks\.)[^/]*$/,
    "git hooks",
  ],
  [/(?:^|\/)(?:package|composer|deno)\.jsonc?$/, "a file of scripts that installs and builds run"],
  [/(?:^|\/)node_modules\/\.bin\//, "a program that scripts run by its name"],
  [
    /(?:^|\/)\.npmrc$|(?:^|\/)bunfig\.toml$|(?:^|\/)pnpm-workspace\.yaml$|(?:^|\/)\.(?:cargo|mvn|bundle)\//,
    "configuration of the package manager",
  ],
  [
    /(?:^|\/)(?:gnu)?makefile$|\.mk$|(?:^|\/)\.?justfile$|(?:^|\/)taskfile\.ya?ml$|(?:^|\/)cmakelists\.txt$|\.gradle(?:\.kts)?$|(?:^|\/)gradlew(?:\.bat)?$|(?:^|\/)gradle\/wrapper\/|(?:^|\/)(?:gulp|grunt|jake)file(?:\.[^/]*)?\.(?:[cm]?[jt]s|coffee)$|(?:^|\/)mvnw(?:\.cmd)?$|(?:^|\/)pom\.xml$|(?:^|\/)build\.(?:rs|sbt)$|(?:^|\/)(?:rake|gem|guard|brew|vagrant)file$/,
    "a build that others run",
  ],
  [
    /(?:^|\/)\.bazelrc$|(?:^|\/)workspace$|(?:^|\/)(?:workspace|module|build)\.bazel$|(?:^|\/)workspace\.bzlmod$|\.bzl$|(?:^|\/)(?:nx|turbo|lerna)\.json$|(?:^|\/)(?:flake|shell|default|devenv)\.nix$|(?:^|\/)flake\.lock$/,
    "a build that others run",
  ],
  [
    /(?:^|\/)(?:conftest|setup|sitecustomize|usercustomize|noxfile)\.py$|(?:^|\/)(?:pyproject\.toml|tox\.ini|setup\.cfg|\.?pytest\.ini|\.?pylintrc(?:\.toml)?)$|\.pth$|(?:^|\/)\.rspec$/,
    "code that tests and installs run, or what names it",
  ],
  [
    /(?:^|\/)(?:jest|vite|vitest|eslint|babel|webpack|rollup|postcss|tailwind|next|nuxt|svelte|astro|playwright|karma|metro|prettier|commitlint|tsup|esbuild|release|stylelint|cypress|rspack|rsbuild|turbo)\.conf(?:ig)?\.(?:[cm]?[jt]s|json)$|(?:^|\/)\.(?:eslintrc|babelrc|prettierrc|mocharc|releaserc|stylelintrc|commitlintrc|swcrc|nycrc)[^/]*$/,
    "code that tools run",
  ],
  [/(?:^|\/)[tj]sconfig[^/]*\.json$/, "what compilers and editors load, plugins among it"],
  [
    /(?:^|\/)(?:\.tool-versions|\.?mise\.toml|\.nvmrc|\.node-version|\.python-version|\.ruby-version|rust-toolchain(?:\.toml)?)$/,
    "the choice of tools",
  ],
  [
    /(?:^|\/)(?:agents?|claude|gemini|copilot)(?:\.(?:override|local))?\.md$|(?:^|\/)\.(?:cursor|windsurf|cline|roo)rules(?:\/|$)|(?:^|\/)\.github\/(?:copilot-instructions\.md|instructions\/|prompts\/|chatmodes\/)/,
    "instructions that agents follow",
  ],
  [
    /(?:^|\/)\.(?:github|circleci|buildkite|forgejo|gitea|woodpecker)(?:\/|$)|(?:^|\/)\.(?:gitlab-ci|travis|drone|woodpecker)\.yml$|(?:^|\/)jenkinsfile$|(?:^|\/)(?:azure|bitbucket)-pipelines\.ya?ml$|(?:^|\/)codeowners$/,
    "a pipeline that runs with secrets",
  ],
  [/(?:^|\/)(?:netlify\.toml|vercel\.json|procfile|fly\.toml|render\.yaml)$/, "what a hosting service builds and runs"],
  [
    /(?:^|\/)(?:docker|container)file(?:\.[^/]*)?$|(?:^|\/)(?:docker-)?compose(?:\.[^/]*)?\.ya?ml$/,
    "a container that others build and run",
  ],
];

/** Notes for agents next to the intents. Everything else there belongs to the server. */
const orchestrationNotes = /^\.orchestration\/(?:agents?|claude)\.md$/;

/** What a path controls; undefined for ordinary files. Ignores letter case, Unicode form and ignorable code points. */
export function controlPath(path: string): ControlPath | undefined {
  const parts = foldPath(path);
  if (orchestrationNotes.test(parts.join("/"))) return { level: "sensitive", what: "instructions that agents follow" };
  for (const part of parts) {
    const what = protectedNames.get(part) ?? protectedShapes.find(([pattern]) => pattern.test(part))?.[1];
    if (what !== undefined) return { level: "protected", what };
  }
  if (parts.some((part, index) => part === ".yarn" && /^(?:plugins|releases|sdks)$/.test(parts[index + 1] ?? ""))) {
    return { level: "protected", what: "code that the package manager runs" };
  }
  if (parts.some((part, index) => part === ".github" && /^(?:copilot|hooks)$/.test(parts[index + 1] ?? ""))) {
    return { level: "protected", what: "another agent's configuration" };
  }
  const folded = parts.join("/");
  if (startedByItself.test(folded)) return { level: "protected", what: "something that the system starts by itself" };
  for (const [pattern, what] of sensitiveTails) if (pattern.test(folded)) return { level: "sensitive", what };
  return undefined;
}

/** A control path that a shell glob may match because a component spells the beginning of its name, e.g. `.g*`. */
export function controlGlob(glob: string): ControlPath | undefined {
  const literal = controlPath(glob);
  if (literal !== undefined) return literal;
  for (const component of glob.split("/")) {
    if (!component.startsWith(".") || !/[*?[]/.test(component)) continue;
    const matches = globMatcher(foldName(component), { nocase: true });
    for (const [name, what] of protectedNames) if (matches(name)) return { level: "protected", what };
  }
  return undefined;
}
