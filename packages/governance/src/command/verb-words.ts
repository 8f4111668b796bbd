import type { ResolvedWord } from "./resolve-word.ts";

/** Behind these verbs stand names of packages and scripts. */
const packages =
  /^(?:install|i|add|require|remove|rm|uninstall|un|update|upgrade|up|search|view|info|show|why|outdated|run|run-script|test|t|start|stop|restart)$/;

/** Programs whose first word says what to do, and the verbs behind which further words are names as well. */
const verbPrograms: ReadonlyMap<string, RegExp | undefined> = new Map([
  ...programs(
    "npm pnpm yarn bun pip pip3 pipenv pipx uv poetry conda gem bundle composer brew apt apt-get dnf yum apk cargo rustup",
    packages,
  ),
  ...programs(
    "npx bunx uvx go deno dotnet mvn gradle docker podman kubectl helm terraform tofu systemctl service gh glab aws gcloud az",
    undefined,
  ),
]);

/** Options of package managers without a value: a word behind one is a name like any other. */
const bareOptions =
  /^(?:-[DEOPSgy]|--(?:save|save-dev|save-exact|save-optional|save-peer|no-save|dev|global|force|yes|upgrade|user|legacy-peer-deps|frozen-lockfile))$/;

/** A name that no program takes for a file, with the version it may ask for: no dot or slash but in those. */
const name = /^(?:@[\w-]+\/)?[A-Za-z0-9][\w:-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!]=)[\w.^~*-]+)?$/;

/** The words of a program that are verbs and names, and no files: `install` and `left-pad` of `npm install left-pad`. */
export function verbWords(program: string, words: readonly ResolvedWord[]): ReadonlySet<ResolvedWord> {
  const found = new Set<ResolvedWord>();
  const [verb, ...rest] = words;
  // Behind an option, the first word may be its value.
  if (verb?.literal === undefined || !verbPrograms.has(program) || !name.test(verb.literal)) return found;
  found.add(verb);
  if (!verbPrograms.get(program)?.test(verb.literal)) return found;
  let before: string | undefined = verb.literal;
  for (const word of rest) {
    if (word.literal === "--") break;
    const mayBeValue =
      before === undefined || (before.startsWith("-") && !before.includes("=") && !bareOptions.test(before));
    if (!mayBeValue && word.literal !== undefined && name.test(word.literal)) found.add(word);
    before = word.literal;
  }
  return found;
}

function programs(names: string, verbs: RegExp | undefined): readonly (readonly [string, RegExp | undefined])[] {
  return names.split(" ").map((program) => [program, verbs]);
}
