/** Which programs read or change the files they are given, for rules about files. Pure data. */
import { wordSet } from "#base";
/** Their operands are files whose content they show, copy or send. */
export const FILE_READERS: ReadonlySet<string> = new Set([
  ...wordSet(
    "cat head tail wc grep egrep fgrep zgrep rg ag ack less more most view vi vim nvim nano emacs ed ex sed awk gawk mawk nawk sort " +
      "uniq cut tr nl tac rev fold fmt pr paste join comm cmp diff sdiff diff3 vimdiff od xxd hexdump hd strings base64 base32 " +
      "uuencode md5sum sha1sum sha256sum sha512sum cksum b2sum file cp mv ln install dd tee tar zip gzip bzip2 xz zstd 7z cpio ar " +
      "scp rsync sftp curl wget nc ncat jq yq bat batcat column expand unexpand split csplit shred source . mapfile readarray " +
      "openssl gpg age python python3 perl ruby node php lua xclip xsel pbcopy iconv dos2unix look tsort ptx zcat bzcat xzcat",
  ),
  ...[
    "git show",
    "git diff",
    "git log",
    "git blame",
    "git grep",
    "git cat-file",
    "git add",
    "git hash-object",
    "git archive",
  ],
]);

/** Their operands are files that they create, change, move or remove. */
export const FILE_WRITERS: ReadonlySet<string> = new Set([
  ...wordSet(
    "rm rmdir unlink mv cp ln tee touch truncate chmod chown chgrp install dd shred rsync scp sponge patch split csplit vi vim nvim " +
      "nano emacs ed ex mkfifo setfacl chattr gzip bzip2 xz zstd dos2unix rename",
  ),
  ...["git rm", "git mv", "git checkout", "git restore", "git clean", "git reset"],
]);

/** Their operands are text, or names at most. */
export const TEXT_ONLY: ReadonlySet<string> = new Set([
  ...wordSet(
    "echo printf true false : basename dirname which type command pwd cd ls test [ stat find tree du sleep seq exit return export set unset",
  ),
  ...[
    "git commit",
    "git status",
    "git branch",
    "git tag",
    "git ls-files",
    "git check-ignore",
    "git stash",
    "git push",
    "git fetch",
    "git pull",
  ],
]);

/** What reads whole folders, and the option that makes it do so; an empty pattern when it always does. */
export const TREE_READERS: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z]*[rR]|^--(?:dereference-)?rec|^--dir/,
  egrep: /^-[a-zA-Z]*[rR]|^--(?:dereference-)?rec|^--dir/,
  fgrep: /^-[a-zA-Z]*[rR]|^--(?:dereference-)?rec|^--dir/,
  rg: /(?:)/,
  ag: /(?:)/,
  ack: /(?:)/,
  diff: /^-[a-zA-Z]*[rN]|^--rec/,
  tar: /(?:)/,
  zip: /^-[a-zA-Z]*r|^--rec/,
  "7z": /(?:)/,
  cp: /^-[a-zA-Z]*[rRa]|^--(?:rec|archive)/,
  rsync: /(?:)/,
  scp: /^-[a-zA-Z]*r/,
  git: /^(?:grep|archive|add|stash)$/,
  docker: /^build$/,
};
