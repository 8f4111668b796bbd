import type { CommandAnalysis, SimpleCommand } from "../command/command-analysis.ts";

/** Programs that do nothing without a network. */
export const networkPrograms: ReadonlySet<string> = new Set(
  "curl wget aria2c http https xh httpie nc ncat netcat socat telnet ssh scp sftp rsync ftp tftp lftp rclone ping dig host nslookup whois traceroute".split(
    " ",
  ),
);

/** The first word after the program decides. */
const verbsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: "push pull fetch clone ls-remote",
    gh: "api auth browse cache gist issue label pr release repo run search secret variable workflow",
    npm: "install i add ci update up upgrade outdated view info show audit search ping publish exec x create init",
    pnpm: "install i add update up outdated audit publish dlx create fetch",
    yarn: "install add up upgrade outdated audit publish dlx create",
    bun: "install i add update outdated publish create x",
    pip: "install download index",
    pip3: "install download index",
    uv: "add sync lock pip tool",
    cargo: "add fetch install publish search update",
    go: "get install",
    docker: "pull push login",
    podman: "pull push login",
    brew: "install update upgrade",
    apt: "install update upgrade",
    "apt-get": "install update upgrade",
  }).map(([program, verbs]) => [program, new Set(verbs.split(" "))]),
);

const runsPackages: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "uvx"]);

/** Options before the verb whose value is a separate word. */
const takesValue = /^(?:-[cC]|--prefix|--git-dir|--work-tree)$/;

/**
 * True for a command that is known to open connections. False says nothing: a script or a test may open them as well, and is asked
 * about when it does.
 */
export function opensConnections(command: CommandAnalysis): boolean {
  return command.commands.some(isKnown);
}

function isKnown({ name, words }: SimpleCommand): boolean {
  if (networkPrograms.has(name) || runsPackages.has(name)) return true;
  const verb = words.find((word, index) => word?.startsWith("-") === false && !takesValue.test(words[index - 1] ?? ""));
  return verb !== undefined && verbsOf.get(name)?.has(verb) === true;
}
