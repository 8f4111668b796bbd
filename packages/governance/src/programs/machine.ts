import type { DangerRow, Program } from "./program.ts";
import { ofWindows } from "./shared-rows.ts";

const refuses = (rule: string, reason: string, wanted: Pick<DangerRow, "any" | "none"> = {}): DangerRow => ({
  rule,
  verdict: "deny",
  reason,
  ...wanted,
});
const asks = (...row: Parameters<typeof refuses>): DangerRow => ({ ...refuses(...row), verdict: "ask" });

const runsLater = "$ lets something run later without anybody seeing it.";
const listing = { none: /^(?:-l|list|print|--version|-V)$/ } as const;
const services: readonly DangerRow[] = [
  refuses("floor/power", "This stops the machine or its sessions.", {
    any: /^(?:poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency|isolate|exit|terminate-.*|kill-.*)$/,
  }),
  asks("floor/power", "This changes services of the machine.", {
    any: /^(?:start|stop|restart|enable|disable|mask|edit|link|daemon-reload|set-.*|reload)$/,
  }),
];
const mounts = refuses("floor/mount", "$ changes what paths mean.", { any: /^(?!-[lV]$)/ });

/** Programs that change the machine itself. */
export const ofMachine: readonly Program[] = [
  {
    names:
      "mkfs mke2fs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe blkdiscard hdparm mkswap swapoff cryptsetup lvremove vgremove pvremove zpool zfs mdadm badblocks diskutil",
    dangers: [
      refuses("floor/disk", "$ can destroy a disk or a partition.", {
        none: /^(?:-l|--list|list|status|info|--version|--help)$/,
      }),
    ],
  },
  { names: "mount umount", dangers: [mounts], files: { operands: "write", options: "" } },
  { names: "losetup pivot_root fusermount bindfs", dangers: [mounts] },
  {
    names: "shutdown reboot halt poweroff telinit init",
    dangers: [refuses("floor/power", "This stops the machine.")],
  },
  { names: "systemctl", otherwise: {}, dangers: services },
  { names: "loginctl", dangers: services },
  { names: "service", otherwise: {} },
  { names: "killall5", dangers: [refuses("floor/kill-all", "This ends every process of the user.")] },
  {
    names: "kill",
    dangers: [
      refuses("floor/kill-all", "This ends the first process, and with it all others.", { any: /^1$/ }),
      // `kill -1 4242` names a signal and a process.
      refuses("floor/kill-all", "This ends every process of the user.", { any: /^-1$/, none: /^\d{2,}$/ }),
    ],
  },
  {
    names: "killall pkill skill",
    dangers: [asks("floor/kill-all", "This ends processes by name, others' as well.")],
  },
  {
    names: "crontab at batch update-rc.d chkconfig",
    dangers: [refuses("floor/persistence", runsLater, listing)],
  },
  { names: "systemd-run launchctl", dangers: [asks("floor/persistence", runsLater, listing)] },
  { names: "schtasks", dangers: [asks("floor/persistence", runsLater, listing), ofWindows] },
  {
    names: "insmod modprobe rmmod kexec iptables nft ufw setenforce passwd useradd userdel usermod visudo chsh",
    dangers: [refuses("floor/kernel", "$ changes the machine itself.")],
  },
  {
    names:
      "erase rd format diskpart vssadmin wbadmin bcdedit cipher reg takeown icacls Remove-Item ri Clear-Content Set-Content powershell powershell.exe pwsh cmd cmd.exe iex Invoke-Expression certutil bitsadmin mshta rundll32 regsvr32 wscript cscript wmic msiexec",
    dangers: [ofWindows],
  },
  {
    names: "sysctl",
    dangers: [refuses("floor/kernel", "$ changes the machine itself.", { any: /^-[a-zA-Z]*w|^--w|=/ })],
  },
];
