import type { CommandCases } from "./command-cases.ts";

/** Programs that take code of another language, or commands of their own that start programs. */
export const interpreterCases: CommandCases = {
  neverDenied: ["sqlite3 x.db .tables", "psql -c 'select 1'", "vim src/a.ts", "mysql -e 'show tables'"],
  neverSilent: [
    ...["less x", "man x", "vim x", "more +x", "python3 -V; python3 x", "node", "node x", "make -n"],
    ...['python3 -m shutil_x 2>/dev/null || python3 -c \'open("README.md","w")\'', "less +'!id' README.md"],
  ],
  // In a language of their own: what a staged one does is seen, and elsewhere a person reads it.
  asked: [
    ...["vim -c '!rm -rf src' -c q", "ex '+!rm -rf src' x", "gdb -batch -ex '!rm -rf src'"],
    ...["gdb -ex 'shell rm -rf src'", "sqlite3 x.db '.shell rm -rf src'", "psql -c '\\! rm -rf src'"],
    ...["mysql -e 'system rm -rf src'", "expect -c 'spawn rm -rf src'", "less '+!rm -rf src' a"],
    "ruby -e '`rm -rf x`'",
  ],
  denied: [
    ...["ruby -rfileutils -e 'FileUtils.rm_rf(\"src\")'", "python3 - <<'EOF'\nimport os\nos.system('x')\nEOF"],
    ...["python3 <<< 'import shutil; shutil.rmtree(\"x\")'", "perl -e 'unlink \"x\"'"],
    ...["python3 -c \"import shutil; shutil.rmtree('src')\"", "python3 -u -c 'import os; os.system(\"rm -rf src\")'"],
    "echo \"import shutil;shutil.rmtree('src')\" | python3",
    ...["node -p \"require('child_process').execSync('rm -rf src')\"", "perl -MFile::Path -e 'rmtree(\"src\")'"],
    ...["php -r 'unlink(\"README.md\");'", "lua -e 'os.remove(\"README.md\")'"],
    ...["osascript -e 'do shell script \"rm -rf src\"'", "make -f - <<< $'all:\\n\\trm -rf src'", "man -P ./evil ls"],
    "tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec=./evil",
  ],
};
