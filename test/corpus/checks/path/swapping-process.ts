/** Puts a link in a directory's place and takes it away again, until it is killed. Arguments: the directory, the link's target. */
import { renameSync, symlinkSync, unlinkSync } from "node:fs";

const [directory = "", target = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
for (;;) {
  try {
    renameSync(directory, `${directory}-aside`);
    symlinkSync(target, directory);
    unlinkSync(directory);
    renameSync(`${directory}-aside`, directory);
  } catch {
    // The other side may have made the directory anew: take that one away.
    try {
      renameSync(directory, `${directory}-${Math.random()}`);
      renameSync(`${directory}-aside`, directory);
    } catch {
      // Again.
    }
  }
}
