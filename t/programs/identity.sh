#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds what t2008-identity runs, for both runtimes, in the current directory: a program per case,
# and libraries that bring runtimes of other names, as wheels do.
# Usage: identity.sh SOURCES CASE...    with CC, OMPCC, CFLAGS, MPI_CFLAGS and MPI_LIBS
# shellcheck disable=SC2086 # flags are words
set -eu
sources=$1
shift

# renamed RUNTIME NAME FILE: the runtime's file under a name of the same length.
renamed() {
	sed "s/$(echo "$1" | sed 's/\./\\./g')\\x00/$2\\x00/g" "$3" >"$2"
}

for compiler in "$OMPCC" "$CC"; do
	case $compiler in
	*clang*) name=clang flags=-fnoopenmp-use-tls runtime=libomp.so.5 private=libomp-p.so ;;
	*) name=gcc flags='' runtime=libgomp.so.1 private=libgomp-p.so ;;
	esac
	compile="$compiler -O1 $CFLAGS -fopenmp"
	$compile -shared -fPIC -o libdata-$name.so "$sources/threaddata.c"
	$compile -shared -fPIC -DBY_KEY -o libkey-$name.so "$sources/threaddata.c"
	for case; do
		libraries=$MPI_LIBS place=
		[ "$case" != pointer ] || place='-fno-pie -no-pie'
		[ "$case" != library ] ||
			libraries="-L. -ldata-$name -Wl,-rpath,\$ORIGIN $libraries"
		$compile $flags $place -DCASE="$(echo "$case" | tr '[:lower:]' '[:upper:]')" \
			$MPI_CFLAGS -o "$case-$name" "$sources/identity.c" $libraries
	done

	file=$($compiler -fopenmp -print-file-name=$runtime)
	[ -e "$file" ] || file=/usr/lib/$($compiler -dumpmachine)/$runtime
	renamed $runtime $private "$file"
	chmod 755 $private
	$compile -fPIC -DLIBRARY -c -o wheel-$name.o "$sources/wheel.c"
	library="$CC -shared wheel-$name.o -L. -Wl,-rpath,\$ORIGIN"
	$library -l:$private -o libwheel-$name.so
	if [ $name = clang ]; then
		renamed $runtime libomp-q.so "$file"
		$library -l:libomp-q.so -o libwheel-other.so
	fi
	$compile $MPI_CFLAGS -o wheel-$name "$sources/wheel.c" $MPI_LIBS
	$compile -fno-openmp $MPI_CFLAGS -Wno-unknown-pragmas -o wheel-without "$sources/wheel.c" \
		$MPI_LIBS
done
