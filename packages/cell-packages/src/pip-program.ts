// The program that runs pip, for this machine and for images: wheels only, whatever a package, a variable or pip's
// configuration says. `--only-binary` alone does not refuse source code that a wheel needs by its address.

/** Its arguments are pip's. `python -m pip` would take a `pip.py` of the folder that it runs in. */
export const PIP_PROGRAM = String.raw`import glob, os, re, sys, zipfile

sys.path[:] = [folder for folder in sys.path if folder]
import runpy

refused = []


def refuse(event, args):
    program = ""
    if event == "subprocess.Popen":
        words = args[1].split() if isinstance(args[1], str) else [str(word) for word in args[1]]
        program = os.path.basename(words[0])
        # The C library, this version of macOS, and the index's password.
        if program.startswith(("ld-", "keyring")) or "mac_ver" in words[-1] and len(words) == 4:
            return
    elif event not in ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"):
        return
    # What pip only tells the index about.
    if program not in ("rustc", "lsb_release", "uname"):
        refused.append(program)
    raise PermissionError(program)


def check(name, metadata):
    line = re.search(rb"(?:^|[\r\n])(Requires-Dist:(?:[^;@\r\n]|(?:\r\n?|\n)[ \t])*@.*)", metadata, re.I)
    if line:
        needed = line[1][:200].decode("utf-8", "replace")
        sys.exit(f"ERROR: {name} needs a package by its address ({needed})")


sys.addaudithook(refuse)
try:
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
except SystemExit as end:
    if end.code and refused:
        sys.exit(f"ERROR: a package is source code, and only wheels are installed (pip may not run {refused[0]})")
    if end.code:
        raise
folders = [sys.argv[sys.argv.index(option) + 1] for option in ("--dest", "--target") if option in sys.argv]
for folder in map(glob.escape, folders):
    for file in glob.glob(folder + "/*.dist-info/METADATA"):
        with open(file, "rb") as metadata:
            check(os.path.basename(os.path.dirname(file)), metadata.read())
    for file in glob.glob(folder + "/*.whl"):
        with zipfile.ZipFile(file) as wheel:
            for name in wheel.namelist():
                if re.fullmatch(r"[^/]+\.dist-info/METADATA", name):
                    check(os.path.basename(file), wheel.read(name))
`
