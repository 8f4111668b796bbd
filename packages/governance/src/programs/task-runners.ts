import type { Program } from "./program.ts";

/** Run scripts, tasks and targets of the project, or programs in an environment of their own. */
export const taskRunners: readonly Program[] = [
  { names: "make", tasks: true, tellsVersion: true },
  { names: "cmake", tasks: true, tellsVersion: true, makefiles: true },
  { names: "configure qmake autoreconf automake config.status", makefiles: true },
  {
    names:
      "gmake just task rake gulp grunt turbo moon mage lein bazel buck2 pants earthly dagger ninja wireit run-s run-p npm-run-all",
    tasks: true,
  },
  { names: "concurrently", tasks: true, starts: true },
  {
    names:
      "dotenv dotenvx cross-env env-cmd doppler op infisical aws-vault aws-okta saml2aws chamber direnv mise asdf rtx nix nix-shell devbox devenv nodemon entr watchexec act vagrant multipass lima limactl distrobox toolbox corepack volta fnm nvm proto",
    starts: true,
  },
  { names: "java", starts: true, tellsVersion: true },
  { names: "node tsc ruby perl javac rustc gcc g++ clang zsh openssl php", tellsVersion: true },
];
