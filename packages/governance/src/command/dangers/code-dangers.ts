import type { DangerRule } from "../invocation.ts";
import { hasOption } from "../option-spec.ts";
import type { ResolvedWord } from "../resolve-word.ts";
import { shells } from "../wrappers.ts";

const has = (words: readonly ResolvedWord[], pattern: RegExp): boolean =>
  words.some((word) => pattern.test(word.literal ?? word.raw));

/** Programs that turn data back into text that nobody could read before. */
const decoders = new Set(
  "base64 base32 basenc xxd tr rev openssl gunzip zcat gzip bzcat xzcat uudecode gpg sed awk perl python python3 ruby node od hexdump printf cut tac paste dd envsubst jq".split(
    " ",
  ),
);
const downloaders = new Set("curl wget fetch aria2c http xh nc ncat socat ssh ftp lftp".split(" "));

const runs = (reason: string) => ({ verdict: "deny" as const, reason, high: true as const });

/** Options of reading or everyday programs that make them run another program. */
const gadgets: readonly { readonly programs: readonly string[]; readonly pattern: RegExp; readonly reason: string }[] =
  [
    {
      programs: ["rg"],
      pattern: /^--(?:pre|hostname-bin)(?:=|$)/,
      reason: "rg would run a program of the command's choice.",
    },
    { programs: ["sort", "gsort"], pattern: /^--comp/, reason: "sort would run a program of the command's choice." },
    {
      programs: ["tar", "gtar", "bsdtar"],
      pattern: /^--(?:to-c|checkpoint-a|use-c|rsh-c|info-s|new-v)|^-[a-zA-Z]*[IF]$|^--use-compress-program/,
      reason: "tar would run a program of the command's choice.",
    },
    {
      programs: ["man"],
      pattern: /^-P|^--pager|^-H|^--html/,
      reason: "man would run a program of the command's choice.",
    },
    {
      programs: ["rsync"],
      pattern: /^-[^-fBTM@]*e|^--rsh|^--rsync-path/,
      reason: "rsync would run a program of the command's choice.",
    },
    { programs: ["wget"], pattern: /^--use-askpass/, reason: "wget would run a program of the command's choice." },
    { programs: ["zip"], pattern: /^-TT|^--unzip-command/, reason: "zip would run a program of the command's choice." },
    {
      programs: ["git"],
      pattern: /^(?:--open-files-in-pager|--upload-pack|--receive-pack|--exec-path=)/,
      reason: "git would run a program of the command's choice.",
    },
    {
      programs: ["ssh", "scp", "sftp"],
      pattern: /ProxyCommand|LocalCommand|KnownHostsCommand/i,
      reason: "ssh would run a program of the command's choice.",
    },
    { programs: ["xargs"], pattern: /^--process-slot-var=PATH/, reason: "xargs would change the environment." },
    { programs: ["curl"], pattern: /^file:/i, reason: "curl would read local files as addresses." },
  ];

export const codeDangers: readonly DangerRule[] = [
  {
    rule: "floor/download-and-run",
    programs: [...shells, "python", "python3", "node", "perl", "ruby", "php", "source", ".", "eval", "iex"],
    find({ input, words, name }) {
      const substituted = words.some(
        (word) => word.sources?.some((source) => downloaders.has(source)) && /^["']?(?:[<$]\(|`)/.test(word.raw),
      );
      if (substituted) return runs("What comes from the network would run unseen.");
      if (input.type !== "pipe") return undefined;
      const script = words.find((word) => !(word.literal ?? "-").startsWith("-") || word.literal === "-");
      if (script !== undefined && script.literal !== "-" && !hasOption(words, "s", "")) return undefined;
      if (words.some((word) => /^-(?:[a-z]*c|e|p|m)/.test(word.literal ?? "")) && !shells.has(name)) return undefined;
      if (input.sources.some((source) => downloaders.has(source)))
        return runs("What comes from the network would run unseen.");
      if (input.text === undefined && shells.has(name) && input.sources.some((source) => decoders.has(source))) {
        return runs("What another program decodes or makes would run unseen.");
      }
      return undefined;
    },
  },
  {
    rule: "floor/input-as-script",
    programs: [...shells],
    find: ({ appendsInput }) => (appendsInput ? runs("The input would become a script, unseen.") : undefined),
  },
  ...gadgets.map(
    ({ programs, pattern, reason }): DangerRule => ({
      rule: "floor/hidden-program",
      programs,
      find: ({ words }) => (has(words, pattern) ? runs(reason) : undefined),
    }),
  ),
  {
    rule: "floor/windows-destructive",
    programs:
      "del erase rd rmdir format diskpart vssadmin wbadmin bcdedit cipher reg takeown icacls Remove-Item ri Clear-Content Set-Content powershell powershell.exe pwsh cmd cmd.exe iex Invoke-Expression certutil bitsadmin mshta rundll32 regsvr32 wscript cscript wmic schtasks msiexec".split(
        " ",
      ),
    find({ name, words }) {
      if (name === "rmdir" && !has(words, /^\/[sq]$/i)) return undefined;
      return {
        verdict: "ask",
        reason: `${name} is a command of Windows that can destroy or run what is not seen.`,
        high: true,
      };
    },
  },
];
