"""Ways to read the file `path`; each is the body of a function that returns what it read."""

READERS = {
    "open": "return open(path).read()",
    "descriptor": "return os.read(os.open(path, os.O_RDONLY), 99)",
    "path handle": "return open(f'/proc/self/fd/{os.open(path, os.O_PATH)}').read()",
    "link": "os.symlink(path, 'door')\nreturn open('door').read()",
    "hard link": "os.link(path, 'copy')\nreturn open('copy').read()",
    "copy": "import shutil\nshutil.copy(path, 'copy')\nreturn open('copy').read()",
    "move": "os.replace(path, 'mine')\nreturn open('mine').read()",
    "send file": (
        "out = os.open('copy', os.O_RDWR | os.O_CREAT)\n"
        "os.sendfile(out, os.open(path, os.O_RDONLY), 0, 99)\nreturn open('copy').read()"
    ),
    "memory map": (
        "import mmap\nreturn mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:]"
    ),
    "C library": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nfd = libc.open(path.encode(), 0)\n"
        "text = ctypes.create_string_buffer(99)\nassert libc.read(fd, text, 98) > 0\n"
        "return text.value"
    ),
    "import": (
        "import importlib.util\n"
        "spec = importlib.util.spec_from_file_location('answers', path)\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))\nreturn True"
    ),
    "run": "import runpy\nrunpy.run_path(path)\nreturn True",
    "source of a line": "import linecache\nreturn linecache.getlines(path)",
    "NumPy": "import numpy as np\nreturn np.fromfile(path, np.uint8).size",
    "listing": "return os.listdir(os.path.dirname(path))",
    "walk": "return [f for _, _, f in os.walk(os.path.dirname(path))]",
    "glob": "import glob\nreturn glob.glob(os.path.dirname(path) + '/*')",
    "root of the process": "return open('/proc/self/root' + path).read()",
    "folder above": "return open('../' * 20 + path.lstrip('/')).read()",
    "changed root": "os.chroot('/')\nreturn open(path).read()",
    "shell": "import subprocess\nreturn subprocess.check_output(['cat', path])",
    "database": (
        "import sqlite3\nfile = sqlite3.connect(os.path.dirname(path) + '/gradebook.db')\n"
        "return file.execute('select points from grades').fetchall()"
    ),
}
