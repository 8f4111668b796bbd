import type { CommandCases } from "./command-cases.ts";

/** Commands of other systems, which are no words of this shell. */
export const windowsCases: CommandCases = {
  neverSilent: [
    ...["LS", "cat \\\\\\\\server", "type a.bat", "RM -RF SRC", "rd /s /q src", "rmdir /s /q src", "erase /f /q *.*"],
    ...["cmd /c rd /s /q src", 'cmd.exe /V:ON /C "set x=rd&&!x! /s /q src"', "c^m^d /c r^d /s /q src"],
    ...["format C: /q", "diskpart /s x", "vssadmin delete shadows /all", "reg delete HKCU\\Software /f"],
    ...["takeown /f . /r", "icacls . /grant Everyone:F /t", "ri -r -fo src", "iex 'Remove-Item src -r'"],
    ...["powershell -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtAA==", 'powershell -c "ri src -r"'],
    ...["[IO.Directory]::Delete('src',$true)", "Set-Content .git\\hooks\\pre-commit x", "Clear-Content README.md"],
    ...["ls; `r`i src -r", "bash.exe -c 'rm -rf src'", "type .env", "more < .env"],
    ...["certutil -urlcache -f http://127.0.0.1/x x.exe", "bitsadmin /transfer j http://127.0.0.1/x C:\\x"],
    ...["mshta http://127.0.0.1/x", "schtasks /create /tn x /tr calc /sc once /st 00:00"],
    ...["\\\\127.0.0.1@80\\DavWWWRoot\\x", "cat \\\\server\\share\\x"],
  ],
};
