import type { ResolvedWord } from "./resolve-word.ts";

/** After these verbs come names of packages and scripts. */
const packages =
  /^(?:install|i|add|require|remove|rm|uninstall|un|update|upgrade|up|search|view|info|show|why|outdated|run|run-script|test|t|start|stop|restart)$/;

const managers = programs(
  "npm pnpm yarn bun pip pip3 pipenv pipx uv poetry conda gem bundle composer brew apt apt-get dnf yum apk cargo rustup",
);
/** Programs of which only the first word says what to do. */
const others = programs(
  "npx bunx uvx go deno dotnet mvn gradle docker podman kubectl helm terraform tofu systemctl service gh glab aws gcloud az",
);

/** Options of package managers without a value: a word behind one is a name like any other. */
const bareOptions =
  /^(?:-[DEOPSgy]|--(?:save|save-dev|save-exact|save-optional|save-peer|no-save|dev|global|force|yes|upgrade|user|legacy-peer-deps|frozen-lockfile))$/;

/** A name that no program takes for a file, optionally with a version: dots and slashes only there. */
const name = /^(?:@[\w-]+\/)?[A-Za-z0-9][\w:-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!]=)[\w.^~*-]+)?$/;

/** The words of a program that are verbs and names, and no files: `install` and `left-pad` of `npm install left-pad`. */
export function verbWords(program: string, words: readonly ResolvedWord[]): ReadonlySet<ResolvedWord> {
  const [verb, ...rest] = words;
  const isManager = managers.has(program);
  // Behind an option, the first word may be its value.
  if (verb?.literal === undefined || !(isManager || others.has(program)) || !name.test(verb.literal)) return new Set();
  if (!isManager || !packages.test(verb.literal)) return new Set([verb]);
  const end = rest.findIndex(({ literal }) => literal === "--");
  const names = rest.slice(0, end < 0 ? undefined : end).filter(({ literal }, index) => {
    const before = words[index]?.literal ?? "-";
    const mayBeValue = before.startsWith("-") && !before.includes("=") && !bareOptions.test(before);
    return !mayBeValue && literal !== undefined && name.test(literal);
  });
  return new Set([verb, ...names]);
}

function programs(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
