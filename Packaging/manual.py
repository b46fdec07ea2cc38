#!/usr/bin/python3
"""Writes the manual pages of `thumbs`: one for the program, one for each subcommand.

Usage: manual.py PROGRAM VERSION DATE FOLDER

Reads what the program tells of its options (`--experimental-dump-help`). ArgumentParser's own generate-manual reads the
same, but leaves out the options that `--help-hidden` shows, for which the manual is the place, and the values of options.
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

# Sections that the program's help does not have: what each command uses, by the command's page.
SECTIONS = {
    "thumbs": {
        "FILES": {
            "~/.cache/thumbs": "The cache, in $XDG_CACHE_HOME if that is set; --cache-dir names another folder.",
            "~/.netrc": "User names and passwords of hosts, for --netrc-file.",
            "/usr/share/doc/thumbs": "The documentation.",
        },
        "ENVIRONMENT": {
            "XDG_CACHE_HOME": "The folder in which the cache is, as thumbs. The default is ~/.cache.",
            "http_proxy, https_proxy, all_proxy, no_proxy": "Proxies, and the hosts without one.",
            "THUMBS_PROXY": "The proxy in place of those, or none.",
            "SSL_CERT_FILE": "The certificate authorities to trust, a PEM file. The default is the system's.",
            "UNSPLASH_ACCESS_KEY, PEXELS_API_KEY": "The keys of the providers unsplash and pexels.",
            "THUMBS_CLIENT_KEY_PASSWORD": "The password of the key of a client certificate.",
            "TMPDIR": "The folder for temporary files.",
        },
    },
    "thumbs-convert": {
        "FILES": {".thumbs-index": "In the output folder: what each thumbnail was made from."},
    },
    "thumbs-site": {
        "FILES": {".thumbs-index": "In the output folder: what each file was made from. Not to be published."},
    },
    "thumbs-serve": {
        "FILES": {
            "/etc/thumbs/server.json": "The options of the server of the machine, thumbs.service.",
            "~/.config/thumbs/server.json": "The options of a user's server, thumbs.service of systemctl --user.",
            "/var/cache/thumbs": "The cache of the server of the machine.",
        },
        "ENVIRONMENT": {
            "THUMBS_SIGNING_KEYS": "Lines NAME:SECRET, in place of the file of --signing-keys.",
            "THUMBS_IMAGINARY_KEY": "The key that Nextcloud sends (preview_imaginary_key).",
            "THUMBS_PURGE_KEY": "The key for DELETE /cache.",
        },
    },
    "thumbs-sign": {
        "ENVIRONMENT": {"THUMBS_SIGNING_KEYS": "Lines NAME:SECRET, in place of a file."},
    },
}


def text(words, width=80):
    """Prose as roff reads it, in lines that are not too long."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def prose(lines):
    """Paragraphs; indented lines are examples, shown as they are."""
    is_example = False
    for line in lines:
        indented = line.startswith("  ")
        if indented != is_example:
            yield ".nf\n.RS 4" if indented else ".RE\n.fi"
            is_example = indented
        if line.strip():
            yield text(line[2:] if indented else line, 80 if not indented else 1000)
        else:
            yield ".PP" if not is_example else ""
    if is_example:
        yield ".RE\n.fi"


def name(argument):
    """An option with its short form and its value, or the name of a positional argument."""
    if argument["kind"] == "positional":
        return f"\\fI{text(argument['valueName'])}\\fR"
    dashes = {"short": "\\-", "long": "\\-\\-", "longWithSingleDash": "\\-"}
    words = [f"\\fB{dashes[item['kind']]}{text(item['name'])}\\fR" for item in argument["names"]]
    words.sort(key=len)
    value = f" \\fI{text(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
    return ", ".join(words) + value


def option(argument):
    yield ".TP"
    yield name(argument)
    told = argument.get("abstract", "")
    values = argument.get("allValues") or []
    if values and not all(value in told for value in values):
        told += " One of " + ", ".join(values) + "."
    default = argument.get("defaultValue")
    if default and "(default" not in told:
        told += f" The default is {default}."
    yield text(told.strip())


def page(command, path, version, date):
    title = "-".join(path)
    yield f".TH {title.upper().replace('-', chr(92) + '-')} 1 {date} \"thumbs {version}\" \"User Commands\""
    yield ".SH NAME"
    yield f"{text(title)} \\- {text(command['abstract'].rstrip('.'))}"
    arguments = [item for item in command.get("arguments", []) if item.get("names") or item["kind"] == "positional"]
    subcommands = [item for item in command.get("subcommands", []) if item["commandName"] != "help"]
    yield ".SH SYNOPSIS"
    words = [f"\\fB{text(' '.join(path))}\\fR"]
    if subcommands:
        words.append("\\fIcommand\\fR")
    if any(item["kind"] != "positional" for item in arguments):
        words.append("[\\fIoption\\fR ...]")
    for item in arguments:
        if item["kind"] == "positional":
            word = name(item) + (" ..." if item["isRepeating"] else "")
            words.append(f"[{word}]" if item["isOptional"] else word)
    yield " ".join(words)
    yield ".SH DESCRIPTION"
    yield text(command["abstract"])
    statuses = ""
    if command.get("discussion"):
        told, _, statuses = command["discussion"].strip("\n").partition("Exit status:\n")
        # The manual lists all options.
        told = re.sub(r"^thumbs [^\n]*--help-hidden lists .*?\.(\s+|\Z)", "", told, flags=re.MULTILINE | re.DOTALL)
        yield ".PP"
        yield from prose(told.strip("\n").split("\n"))
    if subcommands:
        yield ".SH COMMANDS"
        for item in subcommands:
            yield f".TP\n\\fB{text('-'.join([*path, item['commandName']]))}\\fR(1)\n{text(item['abstract'])}"
    sections = {}
    for item in arguments:
        sections.setdefault(item.get("sectionTitle") or "", []).append(item)
    if arguments:
        yield ".SH OPTIONS"
        for section, items in sorted(sections.items(), key=lambda pair: pair[0] == ""):
            if section:
                yield f".SS {text(section)}"
            elif len(sections) > 1:
                yield ".SS Others"
            for item in items:
                yield from option(item)
    yield ".SH EXIT STATUS"
    if statuses:
        for line in statuses.strip("\n").split("\n"):
            status, meaning = line.split(maxsplit=1)
            yield f".TP\n{status}\n{text(meaning)}"
    else:
        yield "See \\fBthumbs\\fR(1)."
    for section, items in SECTIONS.get(title, {}).items():
        yield f".SH {section}"
        for item, told in items.items():
            yield f".TP\n\\fB{text(item)}\\fR\n{text(told)}"
    if len(path) > 1:
        yield f".SH SEE ALSO\n\\fB{text('-'.join(path[:-1]))}\\fR(1)"


def write(command, path, version, date, folder):
    lines = "\n".join(page(command, path, version, date))
    (folder / ("-".join(path) + ".1")).write_text(lines + "\n")
    for item in command.get("subcommands", []):
        if item["commandName"] != "help":
            write(item, [*path, item["commandName"]], version, date, folder)


def main():
    program, version, date, folder = sys.argv[1:]
    dump = subprocess.run([program, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(json.loads(dump)["command"], ["thumbs"], version, date, folder)


if __name__ == "__main__":
    main()
