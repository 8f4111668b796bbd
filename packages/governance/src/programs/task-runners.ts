import type { Program } from "./program.ts";

/** Run scripts, tasks and targets of the project, or programs in an environment of their own. */
export const taskRunners: readonly Program[] = [
  { names: "make", tasks: true, tellsVersion: true, obeys: "GNUmakefile makefile Makefile" },
  { names: "just", tasks: true, obeys: "justfile Justfile .justfile" },
  { names: "task", tasks: true, obeys: "Taskfile.yml Taskfile.yaml" },
  { names: "mypy", obeys: "mypy.ini .mypy.ini pyproject.toml setup.cfg" },
  { names: "eslint", obeys: "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts" },
  { names: "cmake", tasks: true, tellsVersion: true, makefiles: true },
  { names: "configure qmake autoreconf automake config.status", makefiles: true },
  {
    names:
      "gmake rake gulp grunt turbo moon mage lein bazel buck2 pants earthly dagger ninja wireit run-s run-p npm-run-all",
    tasks: true,
  },
  { names: "concurrently", tasks: true, starts: true },
  {
    names:
      "dotenv dotenvx cross-env env-cmd doppler op infisical aws-vault aws-okta saml2aws chamber direnv mise asdf rtx nix nix-shell devbox devenv nodemon entr watchexec act vagrant multipass lima limactl distrobox toolbox corepack volta fnm nvm proto",
    starts: true,
  },
  { names: "java", starts: true, tellsVersion: true },
  { names: "node tsc javac rustc gcc g++ clang zsh openssl php", tellsVersion: true },
  { names: "ruby perl", tellsVersion: true, edits: true },
];
