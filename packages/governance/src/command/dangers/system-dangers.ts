import type { DangerRule } from "../words/invocation.ts";
import { targetsOf } from "../words/invocation.ts";
import { hasOption, operandsOf } from "../words/option-spec.ts";
import { isWithin } from "../words/resolve-path.ts";
import { ask, asks, deny, refuses } from "./danger-rows.ts";
import { isBroad } from "./delete-dangers.ts";

/** Devices that are safe to write to. */
const harmlessDevice = /^\/dev\/(?:null|zero|stdout|stderr|stdin|tty|fd\/\d+|full)$/;

export const systemDangers: readonly DangerRule[] = [
  refuses(
    "floor/disk",
    "mkfs mke2fs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe blkdiscard hdparm mkswap swapoff cryptsetup lvremove vgremove pvremove zpool zfs mdadm badblocks diskutil",
    "$ can destroy a disk or a partition.",
    { none: /^(?:-l|--list|list|status|info|--version|--help)$/ },
  ),
  {
    rule: "floor/disk",
    find({ name }) {
      if (!/^mkfs\.|^newfs/.test(name)) return undefined;
      return deny("This makes a new file system and destroys what was there.");
    },
  },
  {
    rule: "floor/raw-device",
    programs: ["dd", "tee", "cp", "mv", "truncate"],
    find(invocation, place) {
      const outputs =
        invocation.name === "dd"
          ? invocation.words.filter((word) => word.forms.some((form) => form.startsWith("of=")))
          : operandsOf(invocation.words).slice(invocation.name === "tee" ? 0 : -1);
      const targets = outputs.flatMap((word) =>
        targetsOf({ ...word, forms: word.forms.map((form) => form.replace(/^of=/, "")) }, invocation, place),
      );
      return targets.some(
        ({ absolute }) => isWithin(absolute, "/dev") && !harmlessDevice.test(absolute) && absolute !== "/dev",
      )
        ? deny("This writes straight to a device.")
        : undefined;
    },
  },
  refuses("floor/mount", "mount umount losetup pivot_root fusermount bindfs", "$ changes what paths mean.", {
    any: /^(?!-[lV]$)/,
  }),
  refuses("floor/power", "shutdown reboot halt poweroff telinit init", "This stops the machine."),
  refuses("floor/power", "systemctl loginctl", "This stops the machine or its sessions.", {
    any: /^(?:poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency|isolate|exit|terminate-.*|kill-.*)$/,
  }),
  asks("floor/power", "systemctl loginctl", "This changes services of the machine.", {
    any: /^(?:start|stop|restart|enable|disable|mask|edit|link|daemon-reload|set-.*|reload)$/,
  }),
  refuses("floor/kill-all", "killall5", "This ends every process of the user."),
  refuses("floor/kill-all", "kill", "This ends the first process, and with it all others.", { any: /^1$/ }),
  // `kill -1 4242` names a signal and a process.
  refuses("floor/kill-all", "kill", "This ends every process of the user.", { any: /^-1$/, none: /^\d{2,}$/ }),
  asks("floor/kill-all", "killall pkill skill", "This ends processes by name, others' as well."),
  {
    rule: "floor/permissions",
    programs: ["chmod", "chown", "chgrp", "setfacl", "chattr"],
    find(invocation, place) {
      const { words, name } = invocation;
      const recursive = hasOption(words, "-R --recursive");
      const [mode, ...files] = operandsOf(words);
      const bits = name === "chmod" ? (mode?.literal ?? "") : "";
      const open =
        /^(?:0?0?[0-7]?777|666|[0-7]?[0-7][0-7][2367]|(?:a|o|ugo|go)?[+=][rxXst]*w[rwxXst]*|a[+=]rwx)$/.test(bits) &&
        bits !== "+w";
      if (recursive && (open || name === "setfacl" || isBroad({ ...invocation, words: files }, place)))
        return deny("This changes the permissions of whole trees.");
      if (/^[2467][0-7]{3}$|[+=][rwxX]*s/.test(bits))
        return deny("This lets a program run with another user's rights.");
      if (open) return ask("This lets everybody write.");
      return recursive ? ask("This changes the permissions of a whole tree.") : undefined;
    },
  },
  refuses(
    "floor/persistence",
    "crontab at batch update-rc.d chkconfig",
    "$ lets something run later without anybody seeing it.",
    {
      none: /^(?:-l|list|print|--version|-V)$/,
    },
  ),
  asks("floor/persistence", "systemd-run schtasks launchctl", "$ lets something run later without anybody seeing it.", {
    none: /^(?:-l|list|print|--version|-V)$/,
  }),
  refuses(
    "floor/kernel",
    "insmod modprobe rmmod kexec iptables nft ufw setenforce passwd useradd userdel usermod visudo chsh",
    "$ changes the machine itself.",
  ),
  refuses("floor/kernel", "sysctl", "$ changes the machine itself.", { any: /^-[a-zA-Z]*w|^--w|=/ }),
];
