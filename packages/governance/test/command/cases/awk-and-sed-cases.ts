import type { CommandCases } from "./command-cases.ts";

/** Programs of small languages of their own: awk, sed, yq. */
export const awkAndSedCases: CommandCases = {
  allowed: ["sed -n '1,50p' src/a.ts"],
  asked: [
    ...['awk \'{print > "x"; print | "sh"}\' f', "awk 'BEGIN { \"id\" | getline x }'", "awk '{print | \"sh\"}' f"],
    ...["sed -i s/a/b/ x", "sed -n 's/a/b/w out' x", "awk '{print > \"x\"}' f"],
    ...["awk 'BEGIN{while((getline l < \"f\")>0) print l}'", "yq -i '.a=1' x"],
  ],
  neverSilent: [
    ...["sed '1e id' src/a.ts", "sed -i.bak s/a/b/ x", "sed -ni p x", "sed --in-place p x", "sed -f s x"],
    ...["sed 's/x/id/e' f", "sed '1!G;h;$!d;w x' f", "sed 'w x' f", "sed -e 's/a/b/' -e 'w x' f", "sed '/a/w x' f"],
    ...["sed '\\,a,w x' f", "sed 's,a,b,w x' f", "sed 's/[/]/x/w out' f", "sed '1{w x\n}' f"],
    ...["sed 'a\\\nfoo\nw x' f", "sed 'y/a/b/;w x' f", 'awk \'BEGIN{print "x" > "f"}\''],
    ...["awk '{print $1 >> \"f\"}' x", "awk '{ \"id\" | getline; print }' x", "awk -f x y", "awk '@load \"x\"' y"],
    ...["awk -i inplace 1 x", 'awk \'{printf "%s", $0 | "sh"}\' x', 'awk \'BEGIN{printf("x") > "f"}\''],
    ...["awk '/a/ || system(\"id\")' x", 'awk \'BEGIN { x = "a\\"" ; system("id") }\'', "yq e -i x y", "yq -i x y"],
    ...["sed -n 'w .git/hooks/pre-commit' src/a.ts", "awk -i inplace '{print}' package-lock.json"],
    "awk -f evil.awk README.md",
  ],
  denied: ["awk 'BEGIN{system(\"rm -rf src\")}'"],
  neverDenied: [
    "awk '/foo/{print NR\": \"$0}' f",
    "awk '{s+=$1} END {print s/NR}' f",
    "awk -F, '$3 > 10 {print $1, $2}' data.csv",
    "sed -n '/start/,/end/p' f",
    "sed 's/foo/bar/g' src/a.ts",
  ],
};
