/** Shell commands in which something is hidden: the templates that variations of holes are made from. Each makes `%MARK%` where it works. */
import type { SeededRandom } from "../corpora/seeded-random.ts";

type Random = SeededRandom;

/** Makes the marker. */
const DEEDS = [
  "%CMD%",
  "%CMD%;:",
  "true && %CMD%",
  "{ %CMD%; }",
  "( %CMD% )",
  ">%MARK%",
  ": >>%MARK%",
  "/usr/bin/touch %MARK%",
  "env touch %MARK%",
  "mkdir %MARK%",
  "cp /etc/hostname %MARK%",
  "command -p touch %MARK%",
];

const READERS = ["echo", "printf %s", "ls -d", "cat", "wc -c", "head -n1", "true", ":", "test -n", "basename"];
const OPERATORS = [":-", "-", ":=", "=", ":+", "+", ":?", "?", "#", "%%", "/a/", "//a/", "^", ",,"];
const NAMES = ["x", "1", "x[0]", "x[@]", "HOME", "x_y", "@"];

/** Another language inside the shell's own words. */
export function expansion(random: Random): string {
  const deed = random.pick(DEEDS);
  const reader = random.pick(READERS);
  const name = random.pick(NAMES);
  const operator = random.pick(OPERATORS);
  const hidden = random.pick([
    `$'$(${deed})'`,
    `'$(${deed})'`,
    `"$(${deed})"`,
    `$'\`${deed}\`'`,
    `\`${deed}\``,
    `$"$(${deed})"`,
  ]);
  return random.pick([
    () => `${reader} "\${${name}${operator}${hidden}}"`,
    () => `x=1; ${reader} "\${${name}${operator}${hidden}}"`,
    () => `${reader} \${y:-\${${name}${operator}${hidden}}}`,
    () => `cat <<E\n\${${name}${operator}${hidden}}\nE`,
    () => `cat <<-"E" <<F\nE\n\${${name}${operator}${hidden}}\nF`,
    () => `${reader} <<<"\${${name}${operator}${hidden}}"`,
    () => `${reader} ${random.pick(["", "1", "2", "10", "{fd}"])}${random.pick(["<", ">"])}(${deed})`,
    () => `x=($(${deed}))${random.pick(["a", "'a'", '"a"', "$y", "(b)"])}`,
    () => `x=(a)${random.pick([`\`${deed}\``, `$(${deed})`, `<(${deed})`])}`,
    () => `${random.pick(["x+=", "declare -a x=", "local x=", "export x="])}($(${deed}))`,
    () => `x[$(${deed})]=1`,
    () => `${reader} $((x[$(${deed})]))`,
    () => `(( a[\`${deed}\`] ))`,
    () => `[[ a[$(${deed})] -eq 0 ]]`,
    () => `${random.pick(["test -v", "[ -v", "unset", "printf -v", "read -r"])} 'a[$(${deed})]' ]`,
    () => `y='a[$(${deed})]'; ${reader} $((y))`,
    () => `y='$(${deed})'; ${reader} "\${y@P}"`,
    () => `PS4='$(${deed})'; set -x; ${reader} a`,
    () => `${reader} a \\\n#'\n$(${deed})\n#'`,
    () => `case a in a) ;& $(${deed})) ;; esac`,
  ])();
}

const AWKS = ["awk", "mawk", "gawk"];

/** A small language in a quoted word, which a judge has to understand. */
export function smallLanguage(random: Random): string {
  const awk = random.pick(AWKS);
  const system = random.pick([
    'system("%CMD%")',
    '"%CMD%" | getline',
    'print "x" | "%CMD%"',
    'printf "" > "%MARK%"',
    'print >> "%MARK%"',
  ]);
  return random.pick([
    () => `${awk} 'BEGIN { if (0) exit /"/; ${system}; x = "/" }'`,
    () => `${awk} 'BEGIN { if (0) return /"/; ${system}; x = "/" }'`,
    () => `${awk} 'BEGIN { y = 4 / 2 "/"; ${system}; z = "/" }'`,
    () => `${awk} 'BEGIN { cmd = "%CMD%"; x = case / system(cmd) / 1 }'`,
    () => `${awk} 'BEGIN { cmd = "%CMD%"; x = 1 / system(cmd) / 1 }'`,
    () => `echo a | ${awk} '/[]/]"/; ${system} { x = "/" }'`,
    () => `echo a | ${awk} '/[^]/"]/ { } { ${system} } # "/'`,
    () => `echo a | ${awk} '!/\\/"/ { ${system}; y = "/" }'`,
    () => `${awk} 'BEGIN { # "\n${system} }'`,
    () => `${awk} 'BEGIN { x = "\\\\"; ${system}; y = "" }'`,
    () => `gawk 'BEGIN { f = "system"; @f("%CMD%") }'`,
    () => `gawk '@load "filefuncs"; BEGIN { ${system} }'`,
    () => `gawk --source 'BEGIN { ${system} }'`,
    () => `${awk} -f <(echo 'BEGIN { ${system} }')`,
    () => `${awk} -v 'x=%CMD%' 'BEGIN { x | getline }'`,
    () => `sed -n '1${random.pick(["e", "!e", " e"])} %CMD%' notes.txt`,
    () => `sed '${random.pick(["s/^.*$/%CMD%/e", "s,^.*$,%CMD%,e", "1s/.*/%CMD%/;1e"])}' notes.txt`,
    () => `sed -n '${random.pick(["w %MARK%", "/k/w%MARK%", "1{w %MARK%\n}", "s/k/x/w %MARK%"])}' notes.txt`,
    () =>
      `sed -${random.pick(["n -e p -s -i.%MARK%", "Eni.%MARK% p", "-in-place=.%MARK% p", "-in=.%MARK% p"])} notes.txt`,
    () => `sed -e 'a\\' -e '%MARK%' -e 'w %MARK%' notes.txt`,
    () =>
      `find . -maxdepth 0 ${random.pick(["-exec %CMD% \\;", "-execdir %CMD% ';'", "-exec %CMD% {} +", "-fprint %MARK%", "-fls %MARK%", "-fprintf %MARK% x"])}`,
    () => `find notes.txt -name '-exec' -o ${random.pick(["-fprint0", "-fprint"])} %MARK%`,
    () => `sort ${random.pick(["-o %MARK%", "-o%MARK%", "--output=%MARK%", "--outp %MARK%", "-ro%MARK%"])} notes.txt`,
    () => `uniq notes.txt %MARK%`,
    () =>
      `git ${random.pick(["diff --output=%MARK%", "log --outp=%MARK%", "grep -O'%CMD%' x", "grep --open-files-in-pager='%CMD%' x"])}`,
    () =>
      `git -c ${random.pick(["alias.x='!%CMD%' x", "core.pager='%CMD%' -p log", "core.fsmonitor='%CMD%' status", "diff.external='%CMD%' diff"])}`,
    () => `git ls-remote --upload-pac='%CMD%' .`,
    () => `rg --pre ${random.pick(["touch", "/usr/bin/touch"])} x %MARK% notes.txt`,
    () => `jq -n '"%MARK%"' | xargs ${random.pick(["touch", "-I{} touch {}", "-n1 touch"])}`,
    () => `tree -o %MARK% .`,
    () => `date ${random.pick(["-f <(%CMD%)", '+"$(%CMD%)"'])}`,
  ])();
}

/** Ways to a program that a rule denies. `%DENIED%` is the program and `%ARGS%` are its arguments. */
export function indirection(random: Random): string {
  return random.pick([
    () => `echo %DENIED% | xargs -I{} {} %ARGS%`,
    () => `echo %ARGS% | xargs ${random.pick(["", "-n9 ", "-r -- ", "-L1 "])}%DENIED%`,
    () => `${random.pick(["bash", "sh", ".", "source", "bash --", "env bash"])} <(echo %DENIED% %ARGS%)`,
    () =>
      `tar -cf /dev/null ${random.pick(["-I", "--use-compress-program=", "--use-comp="])}'%DENIED% %ARGS%' notes.txt`,
    () => `tar -cf x.tar notes.txt && tar -xf x.tar --to-command='%DENIED% %ARGS%'`,
    () => `env 'BASH_FUNC_ls%%=() { %DENIED% %ARGS%; }' bash -c ls`,
    () => `${random.pick(["test -v", "[ -v", "unset"])} 'a[$(%DENIED% %ARGS%)]' ]`,
    () => `$(printf %DENIED%) %ARGS%`,
    () => `x=%DENIED%; ${random.pick(["$x", `\${x}`, `\${x,,}`, `\${x@E}`, "$x$y"])} %ARGS%`,
    () => `p=%DENIED%; ${random.pick([`/usr/bin/\${p}`, "/bin/$p", "/u*/bin/$p", "/usr/bin/../bin/$p"])} %ARGS%`,
    () => `perl -e 'exec split / /, "%DENIED% %ARGS%"'`,
    () => `/usr/bin/python3 -c 'import os; os.system("%DENIED%" + " %ARGS%")'`,
    () => `node -e 'require("child_process").execSync("%DENIED% %ARGS%")'`,
    () => `git -c alias.x='!%DENIED% %ARGS%' x`,
    () => `awk 'BEGIN { system("%DENIED%" " %ARGS%") }'`,
    () => `sed -n '1e %DENIED% %ARGS%' notes.txt`,
    () => `find . -maxdepth 0 ${random.pick(["-exec", "-execdir"])} %DENIED% %ARGS% ';'`,
    () => `printf 'a:\\n\\t%DENIED% %ARGS%\\n' | make -f -`,
    () => `/lib64/ld-linux-x86-64.so.2 /usr/bin/%DENIED% %ARGS%`,
    () => `cp /usr/bin/%DENIED% ./copy && ./copy %ARGS%`,
    () => `ln /usr/bin/%DENIED% ./link; ln -s /usr/bin/%DENIED% ./soft; ./link %ARGS% || ./soft %ARGS%`,
    () => `cat /usr/bin/%DENIED% > ./copy; chmod +x copy; ./copy %ARGS%`,
    () =>
      `${random.pick(["timeout 5", "nice", "setsid -w", "nohup", "stdbuf -o0", "env -i", "flock notes.txt", "exec"])} %DENIED% %ARGS%`,
    () => `echo '%DENIED% %ARGS%' | ${random.pick(["sh", "bash", "bash -s", "env sh"])}`,
    () => `bash -c ${random.pick(["'%DENIED% %ARGS%'", '"$0 $*" %DENIED% %ARGS%', "'exec \"$@\"' - %DENIED% %ARGS%"])}`,
    () =>
      `${random.pick(["trap '%DENIED% %ARGS%' EXIT", "eval '%DENIED% %ARGS%'", "alias l='%DENIED% %ARGS%'; shopt -s expand_aliases\nl"])}`,
    () => `PROMPT_COMMAND='%DENIED% %ARGS%' bash -i <<<:`,
    () => `BASH_ENV=<(echo %DENIED% %ARGS%) bash -c :`,
    () => `coproc %DENIED% %ARGS%; wait`,
    () => `mapfile -C '%DENIED% %ARGS% #' -c 1 < notes.txt`,
  ])();
}

/** An allow rule, and a command that it does not mean. */
export function widened(random: Random): { readonly rule: string; readonly command: string } {
  const of = (rule: string, command: string) => ({ rule: `allow Bash(${rule})`, command });
  const space = random.pick([" ", "", "  "]);
  return random.pick([
    () =>
      of(
        "python3 *.py",
        `/usr/bin/python3 ${random.pick(["", "-B ", "-I "])}'-c${space}import os; os.mkdir("%MARK%")#.py'`,
      ),
    () => of("python3 *.py", `python3 ${random.pick(["-Bc", "-c", "-Ic"])} 'import os; os.mkdir("%MARK%")' x.py`),
    () => of("perl *.pl", `perl ${random.pick(["-e", "-E", "-Mstrict -e"])}'mkdir "%MARK%";' x.pl`),
    () =>
      of(
        "git log *",
        `git log ${random.pick(["--outp=%MARK%", "--output=%MARK%", "--outpu %MARK%", "--output %MARK% -p"])}`,
      ),
    () =>
      of(
        "git diff *",
        `git diff ${random.pick(["--no-index --output=%MARK% notes.txt /etc/hostname", "--no-i --outp=%MARK% notes.txt .env"])}`,
      ),
    () =>
      of("git *", `git ${random.pick(["-c alias.x='!%CMD%' x", "--exec-path=. log", "-C . -c alias.x='!%CMD%' x"])}`),
    () => of("git clone *", `git clone ${random.pick(["-u", "--upload-pack=", "--upload-pac "])}'%CMD%' . copy`),
    () =>
      of(
        "ssh *",
        `ssh ${random.pick(["-oProxyCommand=", "-o ProxyCommand=", "-o proxycommand=", "-4oProxyCommand="])}'%CMD%' host`,
      ),
    () => of("rsync *", `rsync ${random.pick(["-e ", "--rsh=", "--rs=", "-ae ", "-avze "])}'%CMD%' notes.txt host:x`),
    () => of("go test *", `go test ${random.pick(["-exec", "--exec", "-exec="])} '%CMD%' ./...`),
    () => of("tar *", `tar ${random.pick(["-I", "--use-compress-program=", "--use="])}'%CMD%' -cf x.tar notes.txt`),
    () => of("tar *", `tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='%CMD%' notes.txt`),
    () =>
      of(
        "make *",
        `make ${random.pick(["--eval='$(shell %CMD%)'", "-E '$(shell %CMD%)'", "SHELL=/bin/bash --ev='x:;%CMD%' x"])}`,
      ),
    () => of("sort *", `sort ${random.pick(["-o%MARK%", "--output=%MARK%", "--outp=%MARK%"])} notes.txt`),
    () =>
      of(
        "find *",
        `find . -maxdepth 0 ${random.pick(["-exec %CMD% ';'", "-fprint %MARK%", "-delete -o -fprint %MARK%"])}`,
      ),
    () =>
      of(
        "sed *",
        `sed -n ${random.pick(["-i.%MARK%", "--in-place=.%MARK%", "--in=.%MARK%", "-Ei.%MARK%"])} p notes.txt`,
      ),
    () =>
      of(
        "curl *",
        `curl -s ${random.pick(["-o%MARK%", "--output %MARK%", "--outp %MARK%", "-so%MARK%"])} file:///etc/hostname`,
      ),
    () => of("xargs *", `echo a | xargs ${random.pick(["-I{}", "-n1", "-i"])} touch %MARK%`),
    () => of("env *", `env ${random.pick(["-S", "--split-string="])}'%CMD%'`),
    () =>
      of(
        "awk *",
        `gawk ${random.pick(["-i inplace", "--source='BEGIN{system(\"%CMD%\")}'", "-l filefuncs 'BEGIN{system(\"%CMD%\")}'"])} notes.txt`,
      ),
    () =>
      of(
        "ls *",
        `ls ${random.pick(["$(%CMD%)", "`%CMD%`", "> %MARK%", "; %CMD%", "& %CMD%", "| tee %MARK%", "\n%CMD%"])}`,
      ),
    () => of("npm run *", `npm run x --${random.pick(["script-shell", "shell", "node-options"])}='%CMD%'`),
  ])();
}
