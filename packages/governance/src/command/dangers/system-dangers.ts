import type { DangerRule } from "../invocation.ts";
import { targetsOf } from "../invocation.ts";
import { hasOption, operandsOf } from "../option-spec.ts";
import { isWithin } from "../resolve-path.ts";
import { isBroad } from "./delete-dangers.ts";

/** Devices that are safe to write to. */
const harmlessDevice = /^\/dev\/(?:null|zero|stdout|stderr|stdin|tty|fd\/\d+|full)$/;

export const systemDangers: readonly DangerRule[] = [
  {
    rule: "floor/disk",
    programs:
      "mkfs mke2fs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe blkdiscard hdparm mkswap swapoff cryptsetup lvremove vgremove pvremove zpool zfs mdadm badblocks diskutil".split(
        " ",
      ),
    find({ words }) {
      if (words.some((word) => /^(?:-l|--list|list|status|info|--version|--help)$/.test(word.literal ?? "")))
        return { verdict: "ask", reason: "A program for disks." };
      return { verdict: "deny", reason: "This can destroy a disk or a partition.", high: true };
    },
  },
  {
    rule: "floor/disk",
    find({ name }) {
      return /^mkfs\.|^newfs/.test(name)
        ? { verdict: "deny", reason: "This makes a new file system and destroys what was there.", high: true }
        : undefined;
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
        ? { verdict: "deny", reason: "This writes straight to a device.", high: true }
        : undefined;
    },
  },
  {
    rule: "floor/mount",
    programs: ["mount", "umount", "losetup", "pivot_root", "fusermount", "bindfs"],
    find({ words, name }) {
      if (words.length === 0 || words.every((word) => /^-[lV]$/.test(word.literal ?? ""))) return undefined;
      return { verdict: "deny", reason: `${name} changes what paths mean.`, high: true };
    },
  },
  {
    rule: "floor/power",
    programs: ["shutdown", "reboot", "halt", "poweroff", "telinit", "init"],
    find: () => ({ verdict: "deny", reason: "This stops the machine.", high: true }),
  },
  {
    rule: "floor/power",
    programs: ["systemctl", "loginctl"],
    find({ words }) {
      if (
        words.some((word) =>
          /^(?:poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency|isolate|exit|terminate-.*|kill-.*)$/.test(
            word.literal ?? "",
          ),
        )
      ) {
        return { verdict: "deny", reason: "This stops the machine or its sessions.", high: true };
      }
      return words.some((word) =>
        /^(?:start|stop|restart|enable|disable|mask|edit|link|daemon-reload|set-.*|reload)$/.test(word.literal ?? ""),
      )
        ? { verdict: "ask", reason: "This changes services of the machine.", high: true }
        : undefined;
    },
  },
  {
    rule: "floor/kill-all",
    programs: ["kill", "killall", "pkill", "killall5", "skill"],
    find({ words, name }) {
      const wide = words
        .slice(name === "kill" ? 0 : words.length)
        .some((word, index) => word.literal === "-1" && (index > 0 || words.length === 1));
      if (name === "killall5" || wide || words.some((word) => word.literal === "1" && name === "kill")) {
        return { verdict: "deny", reason: "This ends every process of the user, or the first one.", high: true };
      }
      return name === "kill" ? undefined : { verdict: "ask", reason: "This ends processes by name, others' as well." };
    },
  },
  {
    rule: "floor/permissions",
    programs: ["chmod", "chown", "chgrp", "setfacl", "chattr", "icacls", "takeown"],
    find(invocation, place) {
      const { words, name } = invocation;
      const recursive = hasOption(words, "R", "--recursive", 3);
      const [mode = ""] = operandsOf(words).map((word) => word.literal ?? "");
      const open =
        name === "chmod" &&
        /^(?:0?0?[0-7]?777|666|[0-7]?[0-7][0-7][2367]|(?:a|o|ugo|go)?[+=][rxXst]*w[rwxXst]*|a[+=]rwx)$/.test(mode) &&
        !/^(?:u|g|ug)\+/.test(mode) &&
        mode !== "+w";
      const setuid = name === "chmod" && (/^[2467][0-7]{3}$/.test(mode) || /[+=][rwxX]*s/.test(mode));
      if (
        recursive &&
        (open || name === "setfacl" || isBroad({ ...invocation, words: operandsOf(invocation.words).slice(1) }, place))
      ) {
        return { verdict: "deny", reason: "This changes the permissions of whole trees.", high: true };
      }
      if (setuid) return { verdict: "deny", reason: "This lets a program run with another user's rights.", high: true };
      if (open) return { verdict: "ask", reason: "This lets everybody write.", high: true };
      return recursive
        ? { verdict: "ask", reason: "This changes the permissions of a whole tree.", high: true }
        : undefined;
    },
  },
  {
    rule: "floor/persistence",
    programs: ["crontab", "at", "batch", "launchctl", "schtasks", "systemd-run", "update-rc.d", "chkconfig"],
    find({ name, words }) {
      if (words.some((word) => /^(?:-l|list|print|--version|-V)$/.test(word.literal ?? ""))) return undefined;
      return name === "systemd-run" || name === "schtasks" || name === "launchctl"
        ? { verdict: "ask", reason: `${name} lets something run later, unseen.`, high: true }
        : { verdict: "deny", reason: `${name} lets something run later, unseen.`, high: true };
    },
  },
  {
    rule: "floor/kernel",
    programs: [
      "insmod",
      "modprobe",
      "rmmod",
      "sysctl",
      "kexec",
      "iptables",
      "nft",
      "ufw",
      "setenforce",
      "passwd",
      "useradd",
      "userdel",
      "usermod",
      "visudo",
      "chsh",
    ],
    find({ name, words }) {
      if (name === "sysctl" && !hasOption(words, "w", "--write", 3) && !words.some((word) => word.raw.includes("=")))
        return undefined;
      return { verdict: "deny", reason: `${name} changes the machine itself.`, high: true };
    },
  },
];
