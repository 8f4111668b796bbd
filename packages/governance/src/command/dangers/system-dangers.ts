import { isWithin } from "@gennai/protocol/is-within";
import type { DangerRule } from "../words/invocation.ts";
import { targetsOf } from "../words/invocation.ts";
import { hasOption, operandsOf } from "../words/option-spec.ts";
import { ask, deny, held } from "./danger-rows.ts";
import { isBroad } from "./delete-dangers.ts";

/** Devices that are safe to write to. */
const harmlessDevice = /^\/dev\/(?:null|zero|stdout|stderr|stdin|tty|fd\/\d+|full)$/;

export const systemDangers: readonly DangerRule[] = [
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
        ({ absolute }) =>
          isWithin(absolute, { directory: "/dev" }) && !harmlessDevice.test(absolute) && absolute !== "/dev",
      )
        ? deny("This writes straight to a device.")
        : undefined;
    },
  },
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
        return held(deny("This changes the permissions of whole trees."));
      if (/^[2467][0-7]{3}$|[+=][rwxX]*s/.test(bits))
        return held(deny("This lets a program run with another user's rights."));
      if (open) return ask("This lets everybody write.");
      return recursive ? ask("This changes the permissions of a whole tree.") : undefined;
    },
  },
];
