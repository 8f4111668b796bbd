import type { Program } from "./program.ts";
import { asks } from "./shared-rows.ts";

/** Its words are names of modules. It runs the `Makefile.PL` of what it fetches: no answer for its connections lasts. */
export const cpan: Program = {
  names: "cpanm cpan",
  hosts: "www.cpan.org cpan.metacpan.org cpanmetadb.plackperl.org fastapi.metacpan.org",
  registry: {
    addresses: "$PERL_CPANM_OPT",
    netrc: true,
    reads:
      /^(?:modules\/0\d[\w.-]+\.(?:txt|data)(?:\.gz)?|authors\/(?:01mailrc\.txt\.gz|id\/[\w./-]+\.(?:tar\.gz|tar\.bz2|tgz|zip)))$/,
  },
  otherwise: asks,
};
