/**
 * Variables that decide which code a program loads before or beside its own. What they load is in no pin, so the entry of a project's
 * server cannot set them; the user's own entry can. Judges names alone.
 */

interface LoaderVariables {
  /** Names of which one with `*` at its end stands for all that begin so. */
  readonly names: string;
  /** Completes "it …". */
  readonly why: string;
}

const TABLE: readonly LoaderVariables[] = [
  {
    names: "LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES OBJC_* MALLOC_*",
    why: "makes the system's loader load libraries into every program",
  },
  { names: "PATH", why: "decides which programs a name stands for" },
  { names: "HOME XDG_* TMPDIR", why: "decides which settings and plugins programs read" },
  {
    names: "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES",
    why: "makes Node load other files",
  },
  { names: "NPM_CONFIG_* YARN_* PNPM_* COREPACK_* BUN_* DENO_*", why: "decides which packages and scripts run" },
  { names: "TSX_* TS_NODE_*", why: "makes a TypeScript loader load other files" },
  { names: "PYTHON* PYENV_* VIRTUAL_ENV", why: "makes Python load other modules" },
  { names: "UV_* PIP_* PIPX_* POETRY_* PDM_* CONDA_*", why: "decides which Python and which packages run" },
  { names: "RUBYOPT RUBYLIB RUBYSHELL GEM_* BUNDLE_*", why: "makes Ruby load other files" },
  { names: "PERL5OPT PERL5LIB PERLLIB PERL5DB PERL_*", why: "makes Perl load other modules" },
  { names: "PHPRC PHP_INI_SCAN_DIR", why: "makes PHP load other files" },
  { names: "LUA_PATH* LUA_CPATH* LUA_INIT*", why: "makes Lua load other files" },
  { names: "R_HOME R_PROFILE* R_ENVIRON* R_LIBS* RENV_*", why: "makes R load other files" },
  {
    names: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH",
    why: "makes Java load other classes",
  },
  {
    names: "DOTNET_* COMPLUS_* CORECLR_* COR_*",
    why: "makes .NET load other assemblies",
  },
  {
    names: "GOFLAGS GOROOT GOPATH GOBIN GOENV GOPROXY GOTOOLCHAIN GOMODCACHE CARGO_* RUSTUP_* RUSTC_*",
    why: "decides which compiler and which code run",
  },
  {
    names: "BASH_ENV BASH_FUNC_* BASHOPTS SHELLOPTS ZDOTDIR IFS PS4 PROMPT_COMMAND",
    why: "makes a shell run other code",
  },
  { names: "GIT_*", why: "makes git run other programs" },
  { names: "EDITOR VISUAL PAGER BROWSER SHELL", why: "names a program that others start" },
];

const RULES = TABLE.flatMap(({ names, why }) => names.split(" ").map((name) => ({ name: name.toUpperCase(), why })));

/** Completes "it …"; undefined for a variable that a project may set. Letters count in either case, as npm reads them. */
export function loadsCode(variable: string): string | undefined {
  const name = variable.toUpperCase();
  return RULES.find((rule) => (rule.name.endsWith("*") ? name.startsWith(rule.name.slice(0, -1)) : name === rule.name))
    ?.why;
}
