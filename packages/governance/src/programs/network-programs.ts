import type { DangerRow, Program } from "./program.ts";
import { hiddenProgram, sends } from "./shared-rows.ts";

const plainOperand = /^[^\\]*$/;

const sendsByOption: DangerRow = {
  rule: "floor/send-data",
  verdict: "ask",
  reason: "This sends data out of the machine.",
  any: /^(?:-T|--data|--form|--upload-file|--post-|--body-|--json)|^-[a-zA-Z]*[dFT]$|^-[dF]/,
};
const decidedElsewhere: DangerRow = {
  rule: "floor/send-data",
  verdict: "ask",
  reason: "What this request sends is decided by other commands or variables.",
  dynamic: true,
};
const sshProgram = hiddenProgram(/ProxyCommand|LocalCommand|KnownHostsCommand/i);
const remoteShell: DangerRow = {
  rule: "floor/remote-shell",
  verdict: "ask",
  reason: "$ runs commands on another machine.",
};

/** Programs that do nothing without a network, and others that carry data out. */
export const networkPrograms: readonly Program[] = [
  {
    names: "curl",
    reaches: true,
    dangers: [
      sendsByOption,
      decidedElsewhere,
      {
        rule: "floor/hidden-program",
        verdict: "deny",
        reason: "curl would read local files as addresses.",
        held: true,
        any: /^file:/i,
      },
    ],
    plain: {
      flags:
        /^(?:-[sSfLiIvOgk#]*[sSfLiIvOgk#om]|--(?:silent|show-error|fail|location|include|head|verbose|remote-name|output|compressed|max-time|retry))$/,
      operands: plainOperand,
    },
  },
  {
    names: "wget",
    reaches: true,
    dangers: [sendsByOption, decidedElsewhere, hiddenProgram(/^--use-askpass/)],
    plain: {
      flags: /^(?:-(?:q|nv|O|t|T|S|c|N)|--(?:quiet|no-verbose|output-document|tries|timeout|continue))$/,
      operands: plainOperand,
    },
  },
  { names: "aria2c", reaches: true, dangers: [decidedElsewhere] },
  { names: "fetch ping traceroute whois", reaches: true },
  {
    names: "http https xh httpie",
    reaches: true,
    dangers: [{ ...sendsByOption, any: /[=@]/ }, decidedElsewhere],
  },
  { names: "nc ncat netcat socat ftp tftp lftp dig host nslookup", reaches: true, dangers: [sends] },
  { names: "telnet", reaches: true, dangers: [sends, remoteShell] },
  { names: "scp sftp", reaches: true, dangers: [sends, sshProgram] },
  { names: "ssh", reaches: true, starts: true, dangers: [remoteShell, sshProgram] },
  {
    names: "rsync",
    reaches: true,
    dangers: [
      { ...sendsByOption, reason: sends.reason, any: /^[^/.][^/]*:|^rsync:/ },
      hiddenProgram(/^-[^-fBTM@]*e|^--rsh|^--rsync-path/),
    ],
  },
  {
    names: "croc magic-wormhole wormhole mail mailx sendmail mutt ping6 drill xdg-open open ngrok cloudflared",
    dangers: [sends],
  },
  { names: "start", starts: true, dangers: [sends] },
  { names: "autossh mosh sshpass wsl", starts: true, dangers: [remoteShell] },
  { names: "rsh slogin pssh pdsh wsl.exe winrs psexec", dangers: [remoteShell] },
];
