import type { DangerRule } from "../words/invocation.ts";
import { hasOption } from "../words/option-spec.ts";
import { shells } from "../words/wrappers.ts";
import { asks, deny, refuses } from "./danger-rows.ts";

/** Programs that decode data into text that was unreadable before. */
const decoders =
  /^(?:base(?:64|32)|basenc|xxd|tr|rev|openssl|gunzip|zcat|gzip|bzcat|xzcat|uudecode|gpg|sed|awk|perl|python3?|ruby|node|od|hexdump|printf|cut|tac|paste|dd|envsubst|jq)$/;
const downloaders = /^(?:curl|wget|fetch|aria2c|http|xh|nc|ncat|socat|ssh|ftp|lftp)$/;

export const codeDangers: readonly DangerRule[] = [
  {
    rule: "floor/download-and-run",
    programs: [...shells, "python", "python3", "node", "perl", "ruby", "php", "source", ".", "eval", "iex"],
    find({ input, words, name }) {
      const substituted = words.some(
        (word) => word.sources?.some((source) => downloaders.test(source)) && /^["']?(?:[<$]\(|`)/.test(word.raw),
      );
      if (substituted) return deny("Code from the network would run without anybody seeing it first.");
      if (input.type !== "pipe") return undefined;
      const script = words.find((word) => !(word.literal ?? "-").startsWith("-") || word.literal === "-");
      if (script !== undefined && script.literal !== "-" && !hasOption(words, "-s")) return undefined;
      if (words.some((word) => /^-(?:[a-z]*c|e|p|m)/.test(word.literal ?? "")) && !shells.has(name)) return undefined;
      if (input.sources.some((source) => downloaders.test(source)))
        return deny("Code from the network would run without anybody seeing it first.");
      if (input.text === undefined && shells.has(name) && input.sources.some((source) => decoders.test(source))) {
        return deny("The output of another program would run without anybody seeing it first.");
      }
      return undefined;
    },
  },
  {
    rule: "floor/input-as-script",
    programs: [...shells],
    find: ({ appendsInput }) =>
      appendsInput ? deny("The input would run as a script without anybody seeing it first.") : undefined,
  },
  // Options of reading or everyday programs that make them run another program.
  ...(
    [
      ["rg", /^--(?:pre|hostname-bin)(?:=|$)/],
      ["sort gsort", /^--comp/],
      ["tar gtar bsdtar", /^--(?:to-c|checkpoint-a|use-c|rsh-c|info-s|new-v)|^-[a-zA-Z]*[IF]$/],
      ["man", /^-P|^--pager|^-H|^--html/],
      ["rsync", /^-[^-fBTM@]*e|^--rsh|^--rsync-path/],
      ["wget", /^--use-askpass/],
      ["zip", /^-TT|^--unzip-command/],
      ["git", /^(?:--open-files-in-pager|--upload-pack|--receive-pack|--exec-path=)/],
      ["ssh scp sftp", /ProxyCommand|LocalCommand|KnownHostsCommand/i],
      ["xargs", /^--process-slot-var=PATH/],
    ] as const
  ).map(([programs, any]) =>
    refuses("floor/hidden-program", programs, "$ would run a program of the command's choice.", { any }),
  ),
  refuses("floor/hidden-program", "curl", "curl would read local files as addresses.", { any: /^file:/i }),
  asks(
    "floor/windows-destructive",
    "del erase rd format diskpart vssadmin wbadmin bcdedit cipher reg takeown icacls Remove-Item ri Clear-Content Set-Content powershell powershell.exe pwsh cmd cmd.exe iex Invoke-Expression certutil bitsadmin mshta rundll32 regsvr32 wscript cscript wmic schtasks msiexec",
    "$ is a command of Windows that can destroy or run what is not seen.",
  ),
  asks("floor/windows-destructive", "rmdir", "$ is a command of Windows that can destroy or run what is not seen.", {
    any: /^\/[sq]$/i,
  }),
];
