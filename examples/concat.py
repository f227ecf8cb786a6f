# One string that grows by ten characters as often as the argument says.
import sys

def grown(rounds):
    text = ""
    for _ in range(rounds):
        text += "0123456789"
    return text

print(len(grown(int(sys.argv[1]))))
